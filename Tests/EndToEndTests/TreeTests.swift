import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// An entity whose listing is asked for by its own objects, such as the folders in a folder.
    @Suite struct TreeTests {
        private func site(key: String = "integer", details: String = "") async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Node:
                    bridge: api
                    key: id
                    attributes: &mapped {id: \(key), kind: text}
                    relationships: {parent: {to: Node}}
                    parent: {relationship: parent, where: "kind = folder"}
                    rest: {path: "/in{parent.id}.json"}
                    sources:
                      top: {bridge: api, attributes: *mapped, rest: {path: /top.json}}
                      \(details.isEmpty ? "" : "details: \(details)")
                    precedence: [top, main]
                """)
            try site.publish(#"[{"id": 50, "kind": "folder"}]"#, as: "top.json")
            // Those further down come with lower keys, and so in rows before.
            try site.publish(#"[{"id": 40, "kind": "folder"}, {"id": 41, "kind": "file"}]"#, as: "in50.json")
            try site.publish(#"[{"id": 30, "kind": "folder"}]"#, as: "in40.json")
            try site.publish(#"[{"id": 20, "kind": "file"}, {"id": 21, "kind": "file"}]"#, as: "in30.json")
            return site
        }

        @Test func `a tree is scanned to its leaves in one sync, and what is gone goes`() async throws {
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

        @Test func `a request per object of a tree is made for each object that a sync brings`() async throws {
            let site = try await site(
                details:
                    "{bridge: api, each: true, attributes: {id: integer, word: text}, rest: {path: '/of{parent.id}.json'}}"
            )
            for id in [50, 40, 41, 30, 20, 21] {
                try site.publish(#"[{"id": \#(id), "word": "w"}]"#, as: "of\(id).json")
            }
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try value("SELECT count(word) || ' of ' || count(*) FROM Node", site) == "6 of 6", "\(sync)")
        }

        @Test func `a source by the entity's own objects asks only for those that were there`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Person:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /people.json}
                    sources:
                      friends:
                        bridge: api
                        attributes: {id: integer}
                        relationships: {via: {to: Person}}
                        parent: via
                        rest: {path: "/friends{parent.id}.json"}
                """)
            try site.publish(#"[{"id": 1}, {"id": 2}]"#, as: "people.json")
            for (id, friends) in [1: #"[{"id": 3}]"#, 2: "[]", 3: #"[{"id": 4}]"#, 4: "[]"] {
                try site.publish(friends, as: "friends\(id).json")
            }
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try value("SELECT group_concat(id, ' ') FROM Person", site) == "1 2 3", "\(sync)")
        }

        @Test func `a tree without an end is scanned a thousand levels deep`() async throws {
            let site = try await site(key: "text")
            try site.publish(#"[{"id": "n0", "kind": "folder"}]"#, as: "top.json")
            for level in 0...1001 {
                try site.publish(#"[{"id": "n\#(level + 1)", "kind": "folder"}]"#, as: "inn\(level).json")
            }
            try site.publish("[]", as: "inn1002.json")
            let first = try await site.bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            first.expectMessages("the sync of a tree stopped 1000 levels deep")
            #expect(try value("SELECT count(*) FROM Node", site) == "1001")
            let second = try await site.bmo("sync")
            #expect(second.exitCode == 0 && !second.errorOutput.contains("levels deep"), "\(second)")
            #expect(try value("SELECT count(*) FROM Node", site) == "1003")
        }

        @Test func `a tree without a top is warned of`() async throws {
            let site = try await site()
            let whole = try String(contentsOfFile: site.folder.appending("bmo.yml"), encoding: .utf8)
            let sourceless = whole.split(separator: "\n").filter { !$0.contains(/sources:|top/) }
            try site.folder.write(sourceless.joined(separator: "\n"), to: "bmo.yml")
            let check = try await site.bmo("check")
            #expect(check.exitCode == 0, "\(check)")
            check.expectMessages(#"entity "Node" is listed by its own objects"#, #"add a source without "parent""#)
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            sync.expectMessages("there is no Node to begin with", #"add a source without "parent" that lists the top"#)
            try site.folder.write(whole, to: "bmo.yml")
            let good = try await site.bmo("check")
            #expect(good.exitCode == 0 && !good.errorOutput.contains("its own objects"), "\(good)")
            try site.publish("[]", as: "top.json")
            let empty = try await site.bmo("sync")
            #expect(empty.exitCode == 0 && !empty.errorOutput.contains("to begin with"), "\(empty)")
        }

        private func value(_ sql: String, _ site: RemoteWorkspace<RemoteServer>) throws -> String? {
            try SQLiteFile(site.database).plainRows(sql).first?.first
        }

        private func rows(_ site: RemoteWorkspace<RemoteServer>) throws -> String {
            try SQLiteFile(site.database).plainRows(
                "SELECT group_concat(id || '|' || coalesce(parent, ''), ' ') FROM (SELECT * FROM Node ORDER BY id)"
            ).first?.first ?? ""
        }
    }
}
