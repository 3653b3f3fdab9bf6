import BridgeKit
import RESTBridge
import StoreTestSupport
import TestSupport
import Testing

@testable import BMO

/// What JSON over HTTP says about lists that are nested in its records.
@Suite(.overAllStores) struct NestedMetadataTests {
    private func configuration(_ url: String, in place: StorePlace) throws -> String {
        try place.folder.write("a-token-that-nobody-may-see", to: "token")
        return try place.folder.write(
            """
            version: 1
            database: "\(place.location)"
            bridges: {api: {plugin: rest, options: {url: "\(url)", auth: {type: bearer, token: {file: token}}}}}
            entities:
              Post:
                bridge: api
                key: id
                attributes: {id: integer, comment_count: {type: integer, from: comments.total_count}}
                relationships:
                  comments:
                    many: Comment
                    from: comments.data
                    metadata: {total: comments.total_count, next: comments.next}
                rest: {path: /posts, paging: {style: page}}
              Comment:
                listing: none
                key: id
                attributes: {id: integer, text: text}
                relationships: {replies: {many: Comment, from: replies.data, metadata: {total: replies.count}}}
            """, to: "bmo.yml")
    }

    private func texts(_ related: [FetchResult.Related]) -> [String] {
        related.map { related in
            "\(related.relationship) \(related.owner?.description ?? "-") \(related.metadata.total ?? -1) "
                + (related.metadata["next"]?.text ?? "")
        }
    }

    @Test func `a fetch and the pages of a list have what the records say, without secrets`() async throws {
        let server = try await RemoteServer.python("nested-lists.py")
        let place = try StorePlace(.current, name: "posts.sqlite")
        let manager = try await RequestManager(
            config: configuration(server.url, in: place), stores: place.stores, bridges: [BridgeExport(RESTBridge.self)]
        )
        let result = try await manager.fetch(ObjectRequest("Post")).remote
        #expect(
            texts(result.related) == [
                "comments Post 1 57 /comments?post=1&after=8&token=***", "comments.replies Comment 7 3 ",
                "comments Post 3 0 /comments?post=3&after=&token=***",
            ], "\(place.kind)")
        #expect(result.isComplete && result.warnings.isEmpty, "\(result.warnings)")
        let posts = try await manager.objects(ObjectRequest("Post", sort: ["id"], including: ["comments.replies"]))
        #expect(posts.map { $0["comment_count"] ?? .null } == [57, .null, 0, .null], "\(place.kind)")
        #expect(posts.first?.objects("comments")?.first?.objects("replies")?.count == 1)
        // Nothing has changed, and the records say it again.
        let again = try await manager.fetch(ObjectRequest("Post")).remote
        #expect(!again.hasChanges && texts(again.related) == texts(result.related), "\(place.kind)")
        let loader = try manager.collection(ObjectRequest("Post"))
        #expect(
            texts(try #require(try await loader.loadFirst()).result.related) == [
                "comments Post 1 57 /comments?post=1&after=&token=***", "comments.replies Comment 7 3 ",
            ], "the first page has another link than the last one: \(place.kind)")
        try await manager.close()
    }
}
