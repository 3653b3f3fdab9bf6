import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Edits of resources of a JSON:API, from the command to what the server has.
    @Suite struct ResourceWriteTests {
        private func place() throws -> RemoteWorkspace<NoteServer> {
            let place = try RemoteWorkspace.notes(style: "resources")
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.server.url)"}}}
                entities:
                  Article:
                    bridge: api
                    key: id
                    writable: true
                    attributes: {id: {type: text, write: false}, title: text}
                    relationships: {author: {to: Person}, tags: {many: Label}}
                    rest: {path: /resources/articles, preset: json_api, paging: none, write: {create: {}, update: {}}}
                  Person: {listing: none, key: id, attributes: {id: integer}}
                  Label: {listing: none, key: id, attributes: {id: text}}
                """, to: "bmo.yml")
            return place
        }

        @Test func `relationships to one, to null and to many go out as resource identifiers`() async throws {
            let place = try place()
            func article(_ title: String, _ author: Int, _ tag: String) -> String {
                """
                {"data": {"type": "articles", "attributes": {"title": "\(title)"}, "relationships": {
                 "author": {"data": {"type": "people", "id": "\(author)"}},
                 "tags": {"data": [{"type": "labels", "id": "\(tag)"}]}}}}
                """
            }
            for article in [article("a", 9, "x"), article("c", 8, "y")] {
                _ = try await place.server.curl(
                    "resources/articles", "-X", "POST", "-H", "Content-Type: application/json", "-d", article)
            }
            try await place.expect("sync", "Article")
            let list = try await place.expect("get", "Article", "1")
            #expect(list.contains("author  9") && list.contains(#"["x"]"#), "\(list)")
            try await place.expect("update", "Article", "1", "--set", #"tags=["y","x"]"#, "--push")
            try await place.expect("create", "Article", "--set", "title=b", "--set", "author=8", "--push")
            let people = #"{"author": {"data": {"type": "people", "id": "8"}}}"#
            let tags = #""tags": {"data": [{"type": "labels", "id": "y"}, {"type": "labels", "id": "x"}]}"#
            let first = try await place.server.content("articles/1")
            #expect(first.contains(tags), "\(first)")
            let created = try await place.server.content("articles/3")
            #expect(created.contains(people) && !created.contains("tags"), "\(created)")
            try await place.expect("update", "Article", "1", "--set-null", "author", "--push")
            let none = try await place.server.content("articles/1")
            #expect(none.contains(#""author": {"data": null}"#), "\(none)")
            #expect(none.contains(tags) && none.contains(#""attributes": {"title": "a"}"#), "\(none)")
            try await place.expect("update", "Article", "1", "--set", "tags=[]", "--push")
            #expect(try await place.server.content("articles/1").contains(#""tags": {"data": []}"#))
            #expect(
                try place.rows("SELECT id, title, author FROM Article ORDER BY id")
                    == [["1", "a", "null"], ["2", "c", "8"], ["3", "b", "8"]])
        }
    }
}
