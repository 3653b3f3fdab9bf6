import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages shift when something is removed while they are fetched.
    @Suite struct ShiftTests {
        @Test func `a record that slips past a scan is not deleted, and one that is gone is`() async throws {
            let remote = try await RemoteWorkspace("shifting-pages.py")
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
                      paging: {style: page, page_parameter: page, size_parameter: size, size: 20}

                """, to: "bmo.yml")
            for (request, expected) in [("1", "100|1"), ("2", "100|1"), ("3", "97|4")] {
                // Of the second sync, the fourth page comes after three records of the first were removed.
                let sync = try await remote.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                let rows = try await remote.query("SELECT count(*), min(id) FROM Item")
                #expect(rows == expected, "sync \(request): \(sync)")
            }
        }
    }
}
