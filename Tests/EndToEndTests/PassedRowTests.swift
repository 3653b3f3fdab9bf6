import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Rows that change after a scan has read them, and before it reads the row with the newest value: the next scan must
    /// ask for them.
    @Suite struct PassedRowTests {
        private static let scans = [
            "paging: {style: keyset, field: id, parameter: after, size: 100}",
            "paging: {style: page, size: 100, total: $.total}",
            "each: {kind: [a, b]}, paging: {style: keyset, field: id, parameter: after, size: 100}",
        ]

        @Test(arguments: scans, ["timed", "numbered"])
        func `a row that changed behind the scan is asked for by the next one`(scan: String, path: String) async throws
        {
            let server = try await RemoteWorkspace("passed-rows.py")
            let query = scan.contains("each") ? #"{since: "{since}", kind: "{kind}"}"# : #"{since: "{since}"}"#
            try server.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text, at: timestamp, number: integer}
                    incremental: {field: \(path == "timed" ? "at" : "number")}
                    rest: {path: /\(path), query: \(query), records: $.items, \(scan)}

                """, to: "bmo.yml")
            for _ in 1...2 {
                let sync = try await server.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
            }
            #expect(try await server.query("SELECT group_concat(id) FROM Item WHERE name = 'changed'") == "1,250")
            // What has settled is not asked for for ever.
            try await server.bmo("plan").expectMessages("what changed since")
        }
    }
}
