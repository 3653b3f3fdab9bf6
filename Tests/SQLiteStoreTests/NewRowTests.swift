import Foundation
import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Many new objects one after the other, which SQLite's store inserts some at a time: each is still an object of its own.
@Suite struct NewRowTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(Entity("Thing", key: ["id"], [.of("id", .integer), .of("name", .text)])))
    }

    /// Imports things in one page; a thing's name is its number unless `names` has another.
    private func load(_ numbers: some Sequence<Int>, names: [Int: String] = [:], page: Int = 1) throws -> String {
        let index = try #require(fixture.model.index(of: "Thing"))
        let page = try fixture.begin("Thing", page: page)
        do {
            let records: [Literal] = numbers.map { number in
                .object([("id", .integer(Int64(number))), ("name", .text(names[number] ?? "thing \(number)"))])
            }
            try page.add(try Literal.batch(records), location: nil)
            try page.commit(progress: nil)
        } catch {
            page.rollback()
            throw error
        }
        let counts = page.counts[index]
        return "\(counts.inserted) inserted, \(counts.updated) updated, \(counts.unchanged) unchanged, "
            + "\(counts.quarantined) quarantined"
    }

    private func stored() throws -> String {
        try fixture.file().rows("SELECT count(*), sum(id), sum(name = 'thing ' || id) FROM Thing")
            .map { $0.joined(separator: " ") }.joined()
    }

    @Test func `all of many new objects are inserted and then found again`() throws {
        #expect(try load(1...500) == "500 inserted, 0 updated, 0 unchanged, 0 quarantined")
        #expect(try stored() == "500 125250 500")
        #expect(try load(1...500, page: 2) == "0 inserted, 0 updated, 500 unchanged, 0 quarantined")
    }

    @Test(arguments: [1, 41, 90, 200]) func `an object that exists among many new ones is compared`(_ known: Int) throws
    {
        _ = try load([known], names: [known: "old"])
        #expect(try load(1...200, page: 2) == "199 inserted, 1 updated, 0 unchanged, 0 quarantined")
        #expect(try stored() == "200 20100 200")
    }

    @Test func `objects that exist between new ones are compared`() throws {
        _ = try load(stride(from: 2, through: 400, by: 2))
        #expect(try load(1...400, page: 2) == "200 inserted, 0 updated, 200 unchanged, 0 quarantined")
        #expect(try stored() == "400 80200 400")
    }

    @Test func `new objects in any order are inserted`() throws {
        #expect(try load((1...300).reversed()) == "300 inserted, 0 updated, 0 unchanged, 0 quarantined")
        let mixed = (0..<300).map { 1000 + $0 * 7 % 300 }
        #expect(try load(mixed, page: 2) == "300 inserted, 0 updated, 0 unchanged, 0 quarantined")
        #expect(try stored() == "600 390000 600")
    }

    @Test func `an object that comes twice among new ones is inserted once`() throws {
        let numbers = Array(1...150) + [150, 149] + Array(151...300)
        #expect(
            try load(numbers, names: [150: "same"]) == "300 inserted, 0 updated, 2 unchanged, 0 quarantined")
        #expect(try stored() == "300 45150 299")
    }

    @Test func `what a unique index refuses among many new objects goes to quarantine alone`() throws {
        try fixture.file().rows("CREATE UNIQUE INDEX mine ON Thing (name)")
        #expect(try load(1...200, names: [150: "thing 3"]) == "199 inserted, 0 updated, 0 unchanged, 1 quarantined")
        #expect(try stored() == "199 19950 199")
        #expect(try fixture.store.quarantined().map(\.record.record) == [150])
    }

    @Test func `constraints that refuse several of many new objects leave all others`() throws {
        try fixture.file().rows("CREATE UNIQUE INDEX mine ON Thing (name)")
        let refused = [60, 61, 100, 139, 199]
        let names = Dictionary(uniqueKeysWithValues: refused.map { ($0, "thing 1") })
        #expect(try load(1...200, names: names) == "195 inserted, 0 updated, 0 unchanged, 5 quarantined")
        let sum = (1...200).reduce(0, +) - refused.reduce(0, +)
        #expect(try stored() == "195 \(sum) 195")
        #expect(try load(1...200, page: 2) == "5 inserted, 0 updated, 195 unchanged, 0 quarantined")
    }

    @Test func `new objects need no room for temporary files`() async throws {
        let model = try CompiledModel.of(
            Entity(
                "Thing", key: ["id"], [.of("id", .integer), .of("name", .text)],
                [.one("a", "Place"), .one("b", "Place"), .one("c", "Place")]),
            Entity("Place", key: ["id"], [.of("id", .integer)]))
        let fixture = try StoreFixture(model)
        let files = TemporaryFileCount()
        let text = String(repeating: "x", count: 2_000)
        let records = (1...2_000).map { number -> Literal in
            func place(_ factor: Int) -> Literal { .integer(Int64(number * factor % 1_999)) }
            return [
                "id": .integer(Int64(number)), "name": .text(text), "a": place(7), "b": place(104_729),
                "c": place(1_299_709),
            ]
        }
        let page = try fixture.begin("Thing")
        try page.add(try Literal.batch(records), location: nil)
        // Other tests of this process may have some for a while.
        try await eventually("SQLite has no temporary files") { files.count() == 0 }
        try page.commit(progress: nil)
        #expect(try fixture.file().value("SELECT count(*) FROM Thing") == "2000")
    }

    @Test(arguments: ["FAIL, 'no'", "ABORT, 'no'", "IGNORE"])
    func `what a trigger refuses among many new objects goes to quarantine alone`(_ action: String) throws {
        try fixture.file().rows(
            "CREATE TRIGGER own BEFORE INSERT ON Thing WHEN new.id = 150 BEGIN SELECT raise(\(action)); END")
        #expect(try load(1...200) == "199 inserted, 0 updated, 0 unchanged, 1 quarantined")
        #expect(try stored() == "199 19950 199")
    }

    @Test func `a trigger that another program adds later refuses objects as well`() throws {
        _ = try load(1...200)
        try fixture.file().rows(
            "CREATE TRIGGER own BEFORE INSERT ON Thing WHEN new.id = 350 BEGIN SELECT raise(FAIL, 'no'); END")
        #expect(try load(201...400, page: 2) == "199 inserted, 0 updated, 0 unchanged, 1 quarantined")
        #expect(try stored() == "399 79850 399")
    }
}

/// Counts the temporary files of SQLite that this process has open: it deletes them at once, but keeps them open.
private struct TemporaryFileCount {
    func count() -> Int {
        let folder = "/proc/self/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.count { name in
            ((try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? "").contains(
                "etilqs_")
        }
    }
}
