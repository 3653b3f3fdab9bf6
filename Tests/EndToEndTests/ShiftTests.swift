import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages shift when something is removed while they are fetched.
    @Suite struct ShiftTests {
        private func serve(_ server: String, paging: String = "") async throws -> RemoteWorkspace<RemoteServer> {
            let remote = try await RemoteWorkspace(server)
            try remote.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(remote.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest:
                      path: /items
                      records: $.items
                      paging: {style: page, page_parameter: page, size_parameter: size, size: 20\(paging)}

                """, to: "bmo.yml")
            return remote
        }

        @Test func `a record that slips past a scan is not deleted, and one that is gone is`() async throws {
            let remote = try await serve("shifting-pages.py")
            for (request, expected) in [("1", "100|1"), ("2", "100|1"), ("3", "97|4")] {
                // Of the second sync, the fourth page comes after three records of the first were removed.
                let sync = try await remote.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                let rows = try await remote.query("SELECT count(*), min(id) FROM Item")
                #expect(rows == expected, "sync \(request): \(sync)")
            }
        }

        @Test func `nothing is deleted where a record comes twice and another not at all`() async throws {
            let remote = try await serve("repeating-pages.py", paging: ", total: $.total")
            _ = try await remote.bmo("sync")
            let repeating = try await remote.bmo("sync")
            #expect(repeating.exitCode == 0, "\(repeating)")
            repeating.expectMessages("by its own total it lacks another", "incomplete")
            #expect(try await remote.query("SELECT count(*) FROM Item") == "100")
            // Now the total says that the record is gone.
            let whole = try await remote.bmo("sync")
            #expect(!whole.allOutput.contains("incomplete"), "\(whole)")
            #expect(try await remote.query("SELECT count(*) FROM Item WHERE id != 81") == "99")
            #expect(try await remote.query("SELECT count(*) FROM Item") == "99")
        }
    }
}
