import BMO
import BridgeHost
import BridgeKit
import ImportTestSupport
import Logging
import RESTBridge
import SQLiteStore
import StoreContract
import TestSupport
import Testing

@testable import WebPage

/// The overview of a large database counts rows beside the pages.
@Suite struct KeptOverviewTests {
    private func workspace(_ folder: TemporaryFolder) async throws -> Workspace {
        try folder.write(
            """
            version: 1
            database: items.sqlite
            bridges: {api: {plugin: rest, options: {url: "http://127.0.0.1:1"}}}
            entities: {Item: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /items}}}

            """, to: "bmo.yml")
        let host = BridgeHost(logger: Logger(label: "test"), linked: [BridgeExport(RESTBridge.self)])
        let workspace = try await Workspace.load(
            path: folder.appending("bmo.yml"), host: host, stores: SQLiteStores())
        try workspace.openStore().close()
        return workspace
    }

    private func insert(_ ids: ClosedRange<Int>, _ folder: TemporaryFolder) throws {
        let file = try SQLiteFile(folder.appending("items.sqlite"))
        for id in ids { _ = try file.rows("INSERT INTO Item(id) VALUES (\(id))") }
    }

    @Test(arguments: [0, 1000]) func `rows are counted at once, or beside the pages`(countedAtOnce: Int) async throws {
        let folder = try TemporaryFolder()
        let workspace = try await workspace(folder)
        try insert(1...3, folder)
        let readers = StoreReaders(workspace)
        defer { readers.close() }
        let kept = KeptOverview(workspace, readers, countedAtOnce: countedAtOnce)
        defer { kept.close() }
        #expect(try await kept.now().entities.map(\.rows) == [3])
        try insert(4...5, folder)
        let next = try await kept.now()
        #expect(next.isCounting == (countedAtOnce == 0))
        #expect(next.entities.map(\.rows) == [countedAtOnce == 0 ? 3 : 5])
        try await eventually("the rows are counted") { try await !kept.now().isCounting }
        #expect(try await kept.now().entities.map(\.rows) == [5])
    }
}
