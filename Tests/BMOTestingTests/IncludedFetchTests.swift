import BMO
import BMOTesting
import BridgeContract
import Model
import TestSupport
import Testing

/// A request that also asks the remote for what it includes.
@Suite struct IncludedFetchTests {
    private let remote = ScriptedRemote()
    private let definition = ModelDefinition(
        database: "world.sqlite", bridges: ["api": .plugin("rest")],
        entities: [
            EntityDefinition(
                "Country", bridge: "api", key: "code", attributes: ["code": .text, "name": .text],
                relationships: ["cities": .many("City", inverse: "country")], section: ["path": "/countries"]),
            EntityDefinition(
                "City", bridge: "api", key: "id", attributes: ["id": .integer, "name": .text],
                relationships: ["country": .one("Country"), "mayor": .one("Person")],
                section: ["path": "/countries/{parent.code}/cities"], settings: ["parent": "country"]),
            EntityDefinition(
                "Person", bridge: "api", key: "id", attributes: ["id": .integer, "name": .text],
                section: ["path": "/people"]),
        ])

    private func withManager(_ body: (RequestManager) async throws -> Void) async throws {
        remote["Country"] = ["FR", "IT", "ES"].map { ["code": .string($0), "name": .string("name of \($0)")] }
        remote["Person"] = [["id": 7, "name": "Ann"]]
        let cities: [String: [ConfigValue]] = [
            "FR": [["id": 1, "name": "Paris", "mayor": 7], ["id": 2, "name": "Lyon"]],
            "IT": [["id": 3, "name": "Rome"]],
        ]
        remote.onRequest { [remote] request in
            if request.entity == "City" { remote["City"] = cities[request.parent["code"]?.string ?? ""] ?? [] }
        }
        let manager = try await RequestManager.testing(definition, remote: remote)
        do {
            try await body(manager)
        } catch {
            try? await manager.close()
            throw error
        }
        try await manager.close()
    }

    @Test func `the lists of the request's objects are fetched, with what the remote says about each`() async throws {
        try await withManager { manager in
            var request = ObjectRequest(
                "Country", where: Field("code").isIn(["FR", "IT"]), sort: ["code"], including: ["cities.mayor"])
            request.fetchesIncluded = true
            request.returnsObjects = true
            request.userInfo = try UserInfo(["screen": "map"])
            let result = try await manager.fetch(request).remote
            #expect(result.metadata.total == 3)
            #expect(
                result.related.map { "\($0.relationship) \($0.owner?.description ?? "-") \($0.metadata.total ?? -1)" }
                    == [
                        "cities Country FR 2", "cities Country IT 1", "cities.mayor - 1",
                    ])
            #expect(result.inserted.count == 7 && result.counts["City"]?.inserted == 3)
            let asked = remote.takeRequests()
            #expect(asked.map(\.entity) == ["Country", "City", "City", "Person"], "Spain is not among the objects")
            #expect(asked.nonEmptyAllSatisfy { $0.userInfo["screen"]?.string == "map" })
            #expect(result.objects?.first?.objects("cities")?.first?.object("mayor")?["name"] == "Ann")
        }
    }

    @Test func `nothing is fetched along unless the request says so, and a fault names the entity`() async throws {
        try await withManager { manager in
            var request = ObjectRequest("Country", including: ["cities"])
            #expect(try await manager.fetch(request).remote.related.isEmpty)
            #expect(remote.takeRequests().map(\.entity) == ["Country"])
            request.fetchesIncluded = true
            remote.onRequest { request throws(BridgeError) in
                if request.entity == "City" { throw BridgeError(.permission, "not for you") }
            }
            let error = try await #require(throws: RequestError.self) { try await manager.fetch(request).remote }
            #expect(error.entity == "City" && error.code == "permission", "\(error)")
        }
    }
}
