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

    private func texts(_ result: FetchResult) -> [String] {
        result.related.map { related in
            "\(related.relationship) \(related.owner?.description ?? "-") \(related.metadata.total ?? -1) "
                + (related.metadata.json ?? "")
        }
    }

    @Test func `a record and the answer for its list make one statement about the list`() async throws {
        let definition = ModelDefinition(
            database: "posts.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Post", bridge: "api", key: "id",
                    attributes: ["id": .integer, "comment_count": .integer.from("comments.total_count")],
                    relationships: [
                        "comments": .many("Comment", from: "comments.data", inverse: "post")
                            .with("metadata", ["total": "comments.total_count", "next": "comments.next"])
                    ], section: ["path": "/posts"]),
                EntityDefinition(
                    "Comment", bridge: "api", key: "id", attributes: ["id": .integer],
                    relationships: [
                        "post": .one("Post"),
                        "likes": .many("Like", from: "likes.data").with("metadata", ["total": "likes.total"]),
                    ], section: ["path": "/posts/{parent.id}/comments"], settings: ["parent": "post"]),
                EntityDefinition(
                    "Like", bridge: nil, key: "id", attributes: ["id": .integer], settings: ["listing": "none"]),
            ])
        remote["Post"] = [
            ["id": 1, "comments": ["total_count": 40, "next": "c2", "data": [["id": 7]]]],
            ["id": 2, "comments": ["total_count": 0, "next": nil, "data": []]],
        ]
        remote["Comment"] = [["id": 7, "likes": ["total": 3, "data": [["id": 70]]]]]
        let manager = try await RequestManager.testing(definition, remote: remote)
        var request = ObjectRequest("Post", sort: ["id"], including: ["comments"])
        request.returnsObjects = true
        let own = try await manager.fetch(request).remote
        #expect(
            texts(own) == [
                #"comments Post 1 40 {"total":40,"next":"c2"}"#, #"comments Post 2 0 {"total":0,"next":null}"#,
            ])
        let posts = try #require(own.objects)
        #expect(posts.map { $0["comment_count"] } == [40, 0], "an attribute has it in the database, too")
        let first = try #require(own.metadata(of: "comments", in: posts[0].id))
        #expect(first["next"] == "c2" && first["total"] == 40 && first["other"] == nil)
        #expect(own.metadata(of: "comments", in: posts[1].id)?["next"] == .null)
        #expect(own.metadata(of: "likes", in: posts[0].id) == nil)
        request.fetchesIncluded = true
        #expect(
            texts(try await manager.fetch(request).remote) == [
                #"comments Post 1 1 {"total":40,"next":"c2"}"#, #"comments Post 2 1 {"total":0,"next":null}"#,
                #"comments.likes Comment 7 3 {"total":3}"#,
            ], "the scripted remote's own total of each list is 1")
        #expect(try await manager.sync().entities.count == 3, "a sync reads none")
        try await manager.close()
    }

    @Test func `a result has the metadata of as many lists as it details, and says what is left out`() async throws {
        let definition = ModelDefinition(
            database: "posts.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Post", bridge: "api", key: "id", attributes: ["id": .integer],
                    relationships: ["tags": .many("Tag", from: "tags").with("metadata", ["next": "next_tags"])],
                    section: ["path": "/posts"]),
                EntityDefinition(
                    "Tag", bridge: nil, key: "id", attributes: ["id": .integer], settings: ["listing": "none"]),
            ])
        func post(_ id: Int, size: Int) -> ConfigValue {
            ["id": .int(Int64(id)), "tags": [1], "next_tags": .string(String(repeating: "x", count: size))]
        }
        var options = RequestManager.Options()
        options.detailLimit = 3
        let manager = try await RequestManager.testing(definition, remote: remote, options: options)
        remote.pageSize = 2
        remote["Post"] = (1...3).map { post($0, size: 1) }
        let three = try await manager.fetch(ObjectRequest("Post")).remote
        #expect(three.related.map { $0.owner?.description } == ["Post 1", "Post 2", "Post 3"])
        #expect(three.warnings.isEmpty && !three.isTruncated, "\(three.warnings)")
        remote["Post"] = (1...4).map { post($0, size: 1) }
        let four = try await manager.fetch(ObjectRequest("Post")).remote
        #expect(four.related.map(\.owner) == three.related.map(\.owner) && four.isTruncated)
        #expect(four.warnings.count { $0.hasPrefix("the metadata of some lists is left out") } == 1, "\(four.warnings)")
        remote["Post"] = [post(1, size: 5_000), post(2, size: 5_000), post(3, size: 9)]
        let long = try await manager.fetch(ObjectRequest("Post")).remote
        #expect(long.related.map { $0.owner?.description } == ["Post 3"])
        #expect(
            long.warnings == [
                "Post.tags: \"next\" of the metadata has more than 4096 bytes, and is left out"
            ])
        try await manager.close()
    }

    @Test func `of several records about one list the last one counts`() async throws {
        let definition = ModelDefinition(
            database: "posts.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Post", bridge: "api", key: "id", attributes: ["id": .integer],
                    relationships: [
                        "tags": .many("Tag").with("metadata", ["total": "tag_count", "next": "next_tags"])
                    ], section: ["path": "/posts"]),
                EntityDefinition(
                    "Tag", bridge: nil, key: "id", attributes: ["id": .integer], settings: ["listing": "none"]),
            ])
        remote["Post"] = [
            ["id": 1, "tag_count": 5, "next_tags": "a"], ["id": 2, "tag_count": "6"],
            ["id": 1, "next_tags": "b"], ["id": 2], ["id": 3, "tag_count": -1], ["id": 4, "tag_count": 2.5],
        ]
        for pageSize in [1, 10] {
            remote.pageSize = pageSize
            let manager = try await RequestManager.testing(definition, remote: remote)
            let result = try await manager.fetch(ObjectRequest("Post")).remote
            #expect(
                texts(result) == [
                    #"tags Post 1 -1 {"next":"b"}"#, #"tags Post 2 6 {"total":"6"}"#, #"tags Post 3 -1 {"total":-1}"#,
                    #"tags Post 4 -1 {"total":2.5}"#,
                ], "pages of \(pageSize)")
            try await manager.close()
        }
    }
}
