import BMO
import BridgeKit
import RESTBridge
import TestSupport
import SQLiteStore
import Testing

/// Replies that break off without HTTP noticing.
@Suite struct BrokenReplyTests {
    @Test func `a compressed page that is cut once is asked for again, and none of its rows is taken for gone`()
        async throws
    {
        let server = try RemoteServer.fixture()
        let folder = try TemporaryFolder()
        try folder.write(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
            entities:
              User:
                bridge: api
                key: id
                attributes: {id: integer, name: text}
                rest: {path: /cut-gzip/close, records: $.items, paging: none}
            """, to: "bmo.yml")
        let manager = try await RequestManager(
            config: folder.appending("bmo.yml"), stores: SQLiteStores(), bridges: [BridgeExport(RESTBridge.self)])
        let result = try await manager.fetch(ObjectRequest("User")).remote
        #expect(result.counts["User"]?.inserted == 1000 && result.isComplete)
        #expect(try server.events().count { $0.event == "begin" } == 2, "the first reply was cut")
        try await manager.close()
    }
}
