import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages overlap where the remote sorts them by a value that is not unique.
    @Suite struct OverlapTests {
        private func serve(
            _ more: String = "", path: String = "/items", query: String = "", paging: String = "", files: String...
        ) async throws -> RemoteWorkspace<RemoteServer> {
            let remote = try await RemoteWorkspace("overlapping-pages.py")
            for file in files { try remote.folder.write("", to: file) }
            try remote.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(remote.url)"}}}
                entities:
                  Parent:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /parents, records: $.items, paging: none}
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, v: integer}
                    \(more)
                    rest:
                      path: "\(path)"
                      query: {\(query)}
                      records: $.items
                      paging: {style: page, size: 10, total: $.total\(paging)}

                """, to: "bmo.yml")
            return remote
        }

        private static let byTotal = "the listing has some records twice, and by its own total it lacks 5 others"

        private func count(_ remote: RemoteWorkspace<RemoteServer>) async throws -> String {
            try await remote.query("SELECT count(*) FROM Item")
        }

        @Test func `a first sync that lacks records by the total is incomplete`() async throws {
            let remote = try await serve(files: "total")
            let first = try await remote.bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            first.expectMessages(Self.byTotal, "incomplete")
            #expect(try await count(remote) == "25")
            try remote.folder.write("", to: "stable")
            let second = try await remote.bmo("sync")
            #expect(!second.allOutput.contains("incomplete"), "\(second)")
            #expect(try await count(remote) == "30")
        }

        @Test func `a parent whose children are lacking stays due`() async throws {
            let remote = try await serve(
                "parent: {relationship: parent, changed: true}\n    full_every: 7d\n"
                    + "    relationships: {parent: {to: Parent}}",
                path: "/parents/{parent.id}/items", files: "total")
            try await remote.bmo("sync").expectMessages(Self.byTotal)
            try remote.folder.write("", to: "stable")
            _ = try await remote.bmo("sync")
            #expect(try await count(remote) == "30")
        }

        @Test func `the watermark stays where records are lacking`() async throws {
            let remote = try await serve("incremental: {field: v}", query: "since: \"{since}\"", files: "total")
            try await remote.bmo("sync").expectMessages(Self.byTotal)
            #expect(try await remote.query("SELECT count(*) FROM bmo_cursors WHERE entity = 'Item'") == "0")
            try remote.folder.write("", to: "stable")
            _ = try await remote.bmo("sync")
            #expect(try await remote.query("SELECT count(*) FROM bmo_cursors WHERE entity = 'Item'") == "1")
        }

        @Test func `without a total nothing is deleted where both scans have records twice`() async throws {
            let remote = try await serve(files: "stable")
            _ = try await remote.bmo("sync")
            #expect(try await count(remote) == "30")
            try FileManager.default.removeItem(atPath: remote.folder.appending("stable"))
            let overlapping = try await remote.bmo("sync")
            overlapping.expectMessages(
                "the listing has some records twice, and it lacks 5 rows of the database: nothing missing", "incomplete"
            )
            #expect(try await count(remote) == "30")
            try remote.folder.write("", to: "stable")
            try remote.folder.write("", to: "gone")
            _ = try await remote.bmo("sync")
            #expect(try await count(remote) == "29")
        }

        @Test(arguments: [["joined"], ["joined", "total"]])
        func `a listing that has a record twice on one page has it so on purpose`(files: [String]) async throws {
            let remote = try await serve(files: "stable")
            for file in files { try remote.folder.write("", to: file) }
            let first = try await remote.bmo("sync")
            #expect(!first.allOutput.contains("incomplete"), "\(first)")
            #expect(try await count(remote) == "30")
        }

        @Test(arguments: [[], ["total"]])
        func `a record on each page neither costs the cursor nor deletions where the section says so`(
            files: [String]
        ) async throws {
            let remote = try await serve(
                "incremental: {field: v}", query: "since: \"{since}\"", paging: ", repeats: true", files: "pinned")
            for file in files { try remote.folder.write("", to: file) }
            let first = try await remote.bmo("sync")
            #expect(first.exitCode == 0 && !first.allOutput.contains("incomplete"), "\(first)")
            #expect(try await count(remote) == "30")
            #expect(try await remote.query("SELECT count(*) FROM bmo_cursors WHERE entity = 'Item'") == "1")
            try remote.folder.write("", to: "gone")
            let full = try await remote.bmo("sync", "--full")
            #expect(!full.allOutput.contains("incomplete"), "\(full)")
            #expect(try await count(remote) == "29")
        }

        @Test func `a record on each page makes the listing incomplete where the section does not say so`() async throws
        {
            let remote = try await serve(files: "pinned", "total")
            let first = try await remote.bmo("sync")
            first.expectMessages("by its own total it lacks 3 others", "incomplete")
        }

        @Test func `a record that leaves a listing with repeats on purpose is deleted`() async throws {
            let remote = try await serve(files: "stable")
            try remote.folder.write("", to: "joined")
            _ = try await remote.bmo("sync")
            try remote.folder.write("", to: "gone")
            _ = try await remote.bmo("sync")
            #expect(try await count(remote) == "29")
        }
    }
}
