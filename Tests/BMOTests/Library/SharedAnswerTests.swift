import BMO
import BMOTesting
import BridgeKit
import Model
import RecordBatch
import SQLiteStore
import TestSupport
import Testing

/// One bridge that takes no user info, and another, of the objects that a request includes, that takes it.
@Suite struct SharedAnswerTests {
    /// Brings one country.
    private final class CountryBridge: Bridge, RecordSource {
        static let descriptor = BridgeDescriptor(
            name: "countries", version: "1.0", summary: "One country", optionsSchema: "{}", entitySchema: "{}",
            capabilities: [.fetch])

        init(options: BridgeOptions, context: BridgeContext) {}

        func fetch(_ request: FetchRequest) throws -> any RecordSource { self }

        func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
            throw BridgeError(.unsupported, "nothing is sent")
        }

        func next(into writer: RecordBatchWriter) throws -> Page {
            writer.object { writer.member("code", "FR") }
            return Page(isPageEnd: true, isEnd: true, isComplete: true)
        }

        func cancel() {}
    }

    @Test func `two user infos have two answers, also where only an included entity's bridge takes them`() async throws
    {
        let remote = ScriptedRemote()
        remote["City"] = [["id": 1, "name": "Paris"]]
        let folder = try TemporaryFolder()
        let definition = ModelDefinition(
            database: folder.appending("world.sqlite"),
            bridges: ["plain": .plugin("countries"), "api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Country", bridge: "plain", key: "code", attributes: ["code": .text],
                    relationships: ["cities": .many("City", inverse: "country")], section: [:]),
                EntityDefinition(
                    "City", bridge: "api", key: "id", attributes: ["id": .integer, "name": .text],
                    relationships: ["country": .one("Country")], section: ["path": "/{parent.code}/cities"],
                    settings: ["parent": "country"]),
            ])
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: [BridgeExport(CountryBridge.self)] + remote.bridges("rest"))
        var request = ObjectRequest("Country", including: ["cities"], type: .timeToLive(.seconds(86_400)))
        request.fetchesIncluded = true
        for (language, isShared) in [("fr", false), ("de", false), ("fr", true)] {
            request.userInfo = try UserInfo(["language": language])
            let skipped = try await manager.fetch(request).remote.skipped
            #expect((skipped == .fresh) == isShared, "\(language)")
            let asked = remote.takeRequests().filter { $0.entity == "City" }.map { $0.userInfo["language"]?.string }
            #expect(asked == (isShared ? [] : [language]))
        }
        try await manager.close()
    }
}
