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

/// Several processes that edit one file while pages are imported into it.
@Suite struct OutboxWritersTests {
    private static var host: String { Products.folder + "/FaultHost" }

    @Test func `edits of eight processes and an import are all there`() async throws {
        // The model of Tests/FaultHost.
        let fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "Country", key: ["code"], [.of("code", .text), .of("name", .text), .of("size", .integer)],
                    [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
                Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Country")]),
                Entity("Language", key: ["code"], [.of("code", .text)])))
        let path = fixture.path
        let model = fixture.model
        try await withThrowingTaskGroup(of: ProcessRun?.self) { group in
            for _ in 0..<8 {
                group.addTask { try await ProcessRun.run(Self.host, ["writer", path, "25"]) }
            }
            group.addTask {
                let store = try SQLiteStore(path: path, model: model)
                try store.beginRun(kind: "sync")
                for number in 0..<40 {
                    let page = try PageImport(
                        1, of: model, from: PageImport.Origin(bridge: "remote", page: number + 1),
                        into: store)
                    // Its numbers are those that are made here for new objects, too.
                    let records: [Literal] = (0..<20).map { index in
                        let id = index == 0 ? -(number + 1) * 7 : number * 20 + index
                        return ["id": .integer(Int64(id)), "name": .text("remote")]
                    }
                    try page.add(try Literal.batch(records), location: nil)
                    try page.commit(progress: nil)
                }
                try store.endRun(outcome: "finished", summary: nil, always: true)
                try store.close()
                return nil
            }
            for try await run in group { if let run { #expect(run.exitCode == 0 && run.output == "done\n", "\(run)") } }
        }
        let file = try fixture.file()
        #expect(try file.faults().isEmpty)
        // A new object's number may become the remote's between its creation and its change: then that changes the remote's object.
        let ofRemote = try #require(
            Int(try file.value("SELECT count(*) FROM bmo_outbox WHERE operation = 'update'")))
        #expect(ofRemote <= 40)
        #expect(try file.value("SELECT count(*) FROM City WHERE name = 'remote'") == "\(800 - ofRemote)")
        #expect(try file.value("SELECT count(DISTINCT name) FROM City WHERE name GLOB 'writer *'") == "200")
        #expect(
            try file.value(
                """
                SELECT count(*) FROM bmo_outbox AS o JOIN City AS c ON o.key = '[' || c.id || ']'
                WHERE o.operation = 'create' AND o.changes = '{"name":"' || c.name || '"}' AND o.is_temporary
                """) == "200")
        #expect(try file.value("SELECT count(*) FROM bmo_outbox") == "\(200 + ofRemote)")
        #expect(try file.value("SELECT outcome FROM bmo_runs WHERE kind = 'sync'") == "'finished'")
        #expect(try fixture.store.conflicts().isEmpty)
    }
}
