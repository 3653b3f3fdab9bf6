import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Listings whose own replies show that records are missing.
    @Suite struct GapTests {
        @Test(arguments: [
            (
                "totals", "{style: cursor, path: $.next, total: $.total}",
                "the reply says 6 records, but its pages held 2"
            ),
            ("shards", "none", "$._shards.failed is 1"),
        ])
        func `a listing with a gap deletes nothing`(path: String, paging: String, warning: String) async throws {
            let remote = try await RemoteWorkspace("gap-pages.py")
            try remote.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(remote.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /\(path), records: $.items, paging: \(paging)}

                """, to: "bmo.yml")
            for (count, isIncomplete) in [("6", false), ("6", true), ("5", false)] {
                let sync = try await remote.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                #expect((sync.output + sync.errorOutput).contains(warning) == isIncomplete, "\(sync)")
                #expect(try await remote.query("SELECT count(*) FROM Item") == count, "\(sync)")
            }
        }
    }
}
