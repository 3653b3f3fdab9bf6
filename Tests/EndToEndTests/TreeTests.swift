import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// An entity whose listing is asked for by its own objects, such as the folders in a folder.
    @Suite struct TreeTests {
        private func site() async throws -> FileSite {
            let site = try await FileSite()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Node:
                    bridge: api
                    key: id
                    attributes: &mapped {id: integer, kind: text}
                    relationships: {parent: {to: Node}}
                    parent: {relationship: parent, where: "kind = folder"}
                    rest: {path: "/in{parent.id}.json"}
                    sources:
                      top: {bridge: api, attributes: *mapped, rest: {path: /top.json}}
                    precedence: [top, main]
                """)
            try site.publish(#"[{"id": 50, "kind": "folder"}]"#, as: "top.json")
            // Those further down come with lower keys, and so in rows before.
            try site.publish(#"[{"id": 40, "kind": "folder"}, {"id": 41, "kind": "file"}]"#, as: "in50.json")
            try site.publish(#"[{"id": 30, "kind": "folder"}]"#, as: "in40.json")
            try site.publish(#"[{"id": 20, "kind": "file"}, {"id": 21, "kind": "file"}]"#, as: "in30.json")
            return site
        }

        @Test func `a tree is walked to its leaves in one sync, and what is gone goes`() async throws {
            let site = try await site()
            let first = try await site.bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            #expect(try rows(site) == "20|30 21|30 30|40 40|50 41|50 50|")
            let second = try await site.bmo("sync")
            #expect(second.errorOutput.contains("0 inserted, 0 updated, 6 unchanged"), "\(second)")
            try site.publish(#"[{"id": 21, "kind": "file"}, {"id": 22, "kind": "file"}]"#, as: "in30.json")
            let third = try await site.bmo("sync")
            #expect(third.exitCode == 0, "\(third)")
            #expect(try rows(site) == "21|30 22|30 30|40 40|50 41|50 50|")
        }

        @Test func `a circle ends`() async throws {
            let site = try await site()
            try site.publish(#"[{"id": 40, "kind": "folder"}]"#, as: "in30.json")
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(sync.errorOutput.contains("Node: finished, 4 pages"), "\(sync)")
        }

        private func rows(_ site: FileSite) throws -> String {
            try SQLiteFile(site.database).plainRows(
                "SELECT group_concat(id || '|' || coalesce(parent, ''), ' ') FROM (SELECT * FROM Node ORDER BY id)"
            ).first?.first ?? ""
        }
    }
}
