import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Page numbers and cursors in paths.
    @Suite struct PathPagingTests {
        private func configure(_ place: RemoteWorkspace<RemoteServer>, _ section: String) throws {
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {\(section)}

                """, to: "bmo.yml")
        }

        private func place() async throws -> RemoteWorkspace<RemoteServer> {
            let server = try await RemoteServer.files()
            let place = try RemoteWorkspace(of: server, in: server.folder)
            for (name, content) in [
                ("page-1.json", #"{"pages": 3, "next": "b/c", "items": [{"id": 1}, {"id": 2}]}"#),
                ("page-2.json", #"{"pages": 3, "items": [{"id": 3}, {"id": 4}]}"#),
                ("page-3.json", #"{"pages": 3, "items": [{"id": 5}]}"#),
                ("page-.json", #"{"next": "2", "items": [{"id": 1}, {"id": 2}]}"#),
            ] {
                try place.folder.write(content, to: name)
            }
            return place
        }

        @Test func `the number of a page is part of the path`() async throws {
            let place = try await place()
            try configure(
                place,
                #"path: "/page-{page}.json", query: {a: b}, records: $.items, paging: {style: page, in: path, pages: $.pages}"#
            )
            let plan = try await place.expectSuccess("plan")
            #expect(plan.output.contains("/page-1.json?a=b"), "\(plan)")
            try await place.expectSuccess("sync")
            #expect(try await place.query("SELECT group_concat(id, ' ') FROM User") == "1 2 3 4 5")
        }

        @Test func `a cursor is part of the path, and the first page leaves it out`() async throws {
            let place = try await place()
            try configure(
                place,
                #"path: "/page-({cursor}).json", records: $.items, paging: {style: cursor, in: path, path: $.next}"#)
            try await place.expectSuccess("sync")
            #expect(try await place.query("SELECT group_concat(id, ' ') FROM User") == "1 2 3 4")
        }

        @Test func `a path without the variable is a fault`() async throws {
            let place = try await place()
            try configure(place, #"path: /page-1.json, records: $.items, paging: {style: page, in: path}"#)
            let check = try await place.bmo("check")
            #expect(check.exitCode == 2, "\(check)")
            check.expectMessages("paging.in is path, and path", "has no {page}", "write {page} where the path has it")
        }
    }
}
