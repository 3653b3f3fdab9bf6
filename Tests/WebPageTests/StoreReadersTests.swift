import BMO
import BridgeHost
import BridgeKit
import Foundation
import ImportTestSupport
import Logging
import RESTBridge
import SQLiteStore
import StoreContract
import TestSupport
import Testing

@testable import WebPage

/// The stores that stay open between pages.
@Suite struct StoreReadersTests {
    @Test func `a page reads the file that replaced the database`() async throws {
        let folder = try TemporaryFolder()
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
        let (database, copy) = (folder.appending("items.sqlite"), folder.appending("copy.sqlite"))
        try FileManager.default.copyItem(atPath: database, toPath: copy)
        let readers = StoreReaders(workspace)
        defer { readers.close() }
        #expect(try await readers.read { try $0.status().map(\.rows) } == [0])
        try SQLiteFile(copy).rows("INSERT INTO Item(id) VALUES (1), (2)")
        for name in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: database + name) {
            try FileManager.default.removeItem(atPath: database + name)
        }
        try FileManager.default.moveItem(atPath: copy, toPath: database)
        #expect(try await readers.read { try $0.status().map(\.rows) } == [2])
    }
}
