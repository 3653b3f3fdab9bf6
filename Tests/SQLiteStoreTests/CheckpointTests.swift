import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// What is committed leaves the log for the file while the store is open.
@Suite struct CheckpointTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            try CompiledModel.of(Entity("Note", key: ["id"], [.of("id", .integer), .of("text", .text)])))
    }

    /// Adds rows of a page of the file each.
    private func add(_ count: Int, from first: Int) throws {
        let text = String(repeating: "x", count: 3900)
        for page in stride(from: first, to: first + count, by: 100) {
            let records: [Literal] = (page..<page + 100).map {
                .object([("id", .integer(Int64($0))), ("text", .text(text))])
            }
            let index = try #require(fixture.model.index(of: "Note"))
            let open = try fixture.begin("Note")
            try open.add(try Literal.batch(records), location: nil)
            try open.commit(progress: nil)
            #expect(open.counts[index].inserted == 100)
        }
    }

    private func size(_ suffix: String = "") throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path + suffix)
        return try #require(attributes[.size] as? Int)
    }

    @Test func `what is committed is moved beside the writer`() async throws {
        // Less than the writer itself would checkpoint at.
        try add(2_000, from: 0)
        try await eventually("the file has most rows") { try size() > 4 << 20 }
        #expect(try size("-wal") > 7 << 20)
        try fixture.store.close()
        #expect(try size() > 7 << 20)
        #expect(!FileManager.default.fileExists(atPath: fixture.path + "-wal"), "the writer's connection was the last")
    }

    @Test func `the log stays short however much comes`() throws {
        try add(20_000, from: 0)
        #expect(try size("-wal") < 24 << 20)
        #expect(try fixture.file().rows("SELECT count(*) FROM Note") == [["20000"]])
        #expect(try fixture.file().rows("PRAGMA integrity_check") == [["'ok'"]])
    }

    @Test func `a checkpoint that is not possible costs nothing`() async throws {
        // A reader that stays where it was: nothing after that can leave the log.
        let reader = try fixture.file()
        try reader.rows("BEGIN")
        try reader.rows("SELECT count(*) FROM Note")
        try add(6_000, from: 0)
        #expect(try size() < 1 << 20)
        #expect(try reader.rows("SELECT count(*) FROM Note") == [["0"]])
        try reader.rows("COMMIT")
        try add(100, from: 6_000)
        try await eventually("the file has what the log had") { try size() > 20 << 20 }
        #expect(try reader.rows("SELECT count(*) FROM Note") == [["6100"]])
    }
}
