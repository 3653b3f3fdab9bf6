import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Related objects that the listing's request includes, in place of one request for each object.
    @Suite struct IncludedObjectsTests {
        @Test func `objects that a request includes are imported from the same reply`() async throws {
            let place = try await RemoteWorkspace("included-objects.py")
            // The example of docs/rest.md.
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  Book:
                    bridge: api
                    key: id
                    attributes: {id: integer, title: text}
                    relationships: {author: {to: Author}, reviews: {many: Review, inverse: book, orphans: delete}}
                    rest: {path: /books, query: {include: "author,reviews"}}
                  Author: {listing: none, key: id, attributes: {id: integer, name: text}}
                  Review: {listing: none, key: id, attributes: {id: integer, words: text}, relationships: {book: {to: Book}}}

                """, to: "bmo.yml")
            try await place.expectSuccess("check")
            try await place.expectSuccess("sync")
            #expect(
                try await place.query(
                    "SELECT b.id, a.name, count(r.id) FROM Book b JOIN Author a ON a.id = b.author JOIN Review r ON r.book = b.id GROUP BY b.id ORDER BY b.id"
                ) == "1|Bo|2\n2|Ada|2\n3|Bo|2")
            try place.folder.write("", to: "gone")
            try await place.expectSuccess("sync", "--allow-deletes")
            #expect(try await place.query("SELECT id FROM Review ORDER BY id") == "12\n21\n22\n31\n32")
            let asked = try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8)
            let lines = Set(asked.split(separator: "\n"))
            #expect(lines == ["/books author,reviews"], "\(asked)")
        }
    }
}
