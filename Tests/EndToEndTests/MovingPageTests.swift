import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages of a listing by time of change: what is changed while they are fetched moves to the end, and another
    /// record slips past the scan.
    @Suite struct MovingPageTests {
        private func serve(_ paging: String) async throws -> RemoteWorkspace<RemoteServer> {
            let server = try await RemoteWorkspace("moving-pages.py")
            try server.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text, changed: integer}
                    incremental: {field: changed}
                    rest: {path: /items, query: {since: "{since}"}, records: $.items, paging: \(paging)}

                """, to: "bmo.yml")
            return server
        }

        private static let pagings = [
            "{style: page, size_parameter: size, size: 100, total: $.total}",
            "{style: page, size_parameter: size, size: 100}",
            "{style: offset, size: 100, total: $.total}", "{style: offset, size: 100}",
        ]

        @Test(arguments: pagings)
        func `no row is lost where rows are changed during the first sync and a later one`(paging: String) async throws
        {
            let server = try await serve(paging)
            // The later sync begins with the newest row of the first, which is one of the three that are changed then.
            for expected in ["1211|PATCHED 3", "1211|PATCHED 5"] {
                let sync = try await server.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                #expect(!sync.allOutput.contains("add to `key`"), "\(sync)")
                let rows = try await server.query(
                    "SELECT count(*) || '|PATCHED ' || sum(name LIKE 'changed%') FROM Item")
                #expect(rows == expected, "\(sync)")
                let stale = try await server.bmo("sync", "--dry-run")
                #expect(!stale.allOutput.contains("->"), "what a further sync finds is nothing: \(stale)")
                // Many rows move for the next sync, during which three more are changed.
                try server.folder.write("500", to: "touch")
            }
            let plan = try await server.bmo("plan")
            plan.expectMessages("what changed since")
        }

        @Test(arguments: pagings)
        func `rows that are deleted during the first sync go, and none is missing`(paging: String) async throws {
            let server = try await serve(paging)
            try server.folder.write("", to: "deleting")
            let sync = try await server.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try await server.query("SELECT count(*) || ' ' || min(id) FROM Item") == "1208 4", "\(sync)")
        }

        @Test(arguments: pagings)
        func `no row is lost where others are deleted and as many added, so that the total stays`(paging: String)
            async throws
        {
            let server = try await serve(paging)
            try server.folder.write("", to: "replacing")
            let sync = try await server.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try await server.query("SELECT count(*) || ' ' || min(id) FROM Item") == "1211 4", "\(sync)")
            try await server.bmo("plan").expectMessages("what changed since")
        }

        @Test func `a listing that never stands still keeps the value to ask from`() async throws {
            let server = try await serve(Self.pagings[1])
            try server.folder.write("", to: "restless")
            let sync = try await server.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            sync.expectMessages("records moved between pages while they were fetched, in each of 4 attempts")
            try await server.bmo("plan").expectMessages("nothing is known yet")
            try FileManager.default.removeItem(atPath: server.folder.appending("restless"))
            #expect(try await server.bmo("sync").exitCode == 0)
            #expect(try await server.query("SELECT count(*) > 1211 FROM Item") == "1")
            try await server.bmo("plan").expectMessages("what changed since")
        }
    }
}
