import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Rows that several objects, listings or configurations lay claim to.
    @Suite struct SharedRowTests {
        private func items(_ url: String, _ path: String) -> String {
            """
            version: 1
            database: bmo.sqlite
            bridges: {api: {plugin: rest, options: {url: "\(url)"}}}
            entities:
              Item: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: \(path)}}
            """
        }

        private func value(_ sql: String, _ site: RemoteWorkspace<RemoteServer>) throws -> String {
            try SQLiteFile(site.database).plainRows(sql).first?.first ?? "null"
        }

        @Test func `two configurations of one database delete nothing of each other`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(items("@URL@", "/one.json"), to: "one.yml")
            try site.write(items("@URL@/.", "/two.json"), to: "two.yml")
            try site.publish(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#, as: "one.json")
            try site.publish(#"[{"id": 11}, {"id": 12}]"#, as: "two.json")
            #expect(try await site.bmo("sync", "-f", "one.yml").exitCode == 0)
            for (name, gone) in [("two", 3), ("one", 2), ("two", 3)] {
                let sync = try await site.bmo("sync", "-f", "\(name).yml")
                #expect(sync.exitCode == 1, "\(sync)")
                sync.expectMessages("brake: \(gone) of 5 objects are not in the listing of http://")
                sync.expectMessages("and the rows came from http://")
                sync.expectMessages("if two configurations share the database, give each its own")
                #expect(try value("SELECT count(*) FROM Item", site) == "5")
            }
            let moved = try await site.bmo("sync", "-f", "two.yml", "--allow-deletes")
            #expect(moved.exitCode == 0, "\(moved)")
            #expect(try value("SELECT group_concat(id) FROM Item", site) == "11,12")
            try site.publish(#"[{"id": 12}]"#, as: "two.json")
            let own = try await site.bmo("sync", "-f", "two.yml")
            #expect(own.exitCode == 0, "what the place itself brought goes as ever: \(own)")
            #expect(try value("SELECT group_concat(id) FROM Item", site) == "12")
        }

        @Test func `a key that comes twice in one listing is warned of`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(items("@URL@", "/items.json"))
            try site.publish(
                #"[{"id": 7, "name": "a"}, {"id": 8, "name": "b"}, {"id": 7, "name": "c"}, {"id": 8, "name": "b"}]"#,
                as: "items.json")
            for _ in 1...2 {
                let sync = try await site.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                sync.expectMessages(
                    "bmo: warning: Item: key 7 occurs twice in one listing, with different values: the last one is kept; "
                        + "if these are several objects, add the attribute that distinguishes them to `key`")
            }
            try site.publish(
                #"[{"id": 8, "name": "x"}, {"id": 7, "name": "y"}, {"id": 7, "name": "y"}]"#, as: "items.json")
            let moved = try await site.bmo("sync")
            #expect(!moved.errorOutput.contains("occurs twice"), "the same values are no fault: \(moved)")
        }

        @Test func `a key that two parents list is warned of once`() async throws {
            let site = try await RemoteWorkspace.site()
            func config(_ key: String) -> String {
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Team: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /teams.json}}
                  Member:
                    bridge: api
                    key: \(key)
                    parent: team
                    attributes: {id: integer, name: text}
                    relationships: {team: {to: Team}}
                    rest: {path: "/members{parent.id}.json"}
                """
            }
            try site.write(config("id"))
            try site.publish(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#, as: "teams.json")
            try site.publish(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#, as: "members1.json")
            try site.publish(#"[{"id": 1, "name": "c"}, {"id": 2, "name": "d"}]"#, as: "members2.json")
            try site.publish(#"[{"id": 9, "name": "e"}]"#, as: "members3.json")
            for _ in 1...2 {
                let sync = try await site.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                let lines = sync.errorOutput.split(separator: "\n").filter { $0.contains("warning") }
                #expect(lines.count == 1 && lines[0].contains("Member: key "), "\(sync)")
                #expect(
                    lines.first?.firstMatch(
                        of:
                            /key [12] occurs under two parents \(team [12], team [12]\), and so did another key: use `key: \[team_id, id\]` with the attribute `team_id: {type: integer, from: team}`/
                    )
                        != nil, "\(sync)")
            }
            // What the warning says helps: the attribute has the parent's key, which no record tells.
            let wrong = config("[team, id]")
            try site.write(wrong, to: "wrong.yml")
            let refused = try await site.bmo("check", "-f", "wrong.yml")
            #expect(
                refused.exitCode == 2 && refused.errorOutput.contains(#"add "team_key: {type: TYPE, from: team}""#),
                "\(refused)")
            try site.write(
                config("[team_id, id]").replacing("database: bmo.sqlite", with: "database: both.sqlite")
                    .replacing(
                        "{id: integer, name: text}",
                        with: "{team_id: {type: integer, from: team}, id: integer, name: text}"),
                to: "both.yml")
            for _ in 1...2 {
                let both = try await site.bmo("sync", "-f", "both.yml")
                #expect(both.exitCode == 0 && !both.errorOutput.contains("warning"), "\(both)")
            }
            let rows = try SQLiteFile(site.folder.appending("both.sqlite")).plainRows(
                "SELECT team_id || team || id || name FROM Member ORDER BY 1")
            #expect(rows.map(\.first) == ["111a", "112b", "221c", "222d", "339e"])
            // One that moves is no such thing.
            try site.publish("[]", as: "members3.json")
            try site.publish("[]", as: "members2.json")
            try site.publish(
                #"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 9, "name": "e"}]"#, as: "members1.json")
            _ = try await site.bmo("sync", "--allow-deletes")
            try site.publish(#"[{"id": 9, "name": "e"}]"#, as: "members2.json")
            try site.publish(#"[{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]"#, as: "members1.json")
            let moved = try await site.bmo("sync")
            #expect(moved.exitCode == 0 && !moved.errorOutput.contains("two parents"), "\(moved)")
            #expect(try value("SELECT team FROM Member WHERE id = 9", site) == "2")
        }

        @Test func `an unset secret is reported once, for all entities of its bridge`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "@URL@", headers: {X-Key: {env: BMO_TEST_NOT_SET}}}}}
                entities:
                  Team: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /teams.json}}
                  Place: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /places.json}}
                  Member:
                    bridge: api
                    key: id
                    parent: team
                    attributes: {id: integer}
                    relationships: {team: {to: Team}}
                    rest: {path: "/members{parent.id}.json"}
                """)
            let sync = try await site.bmo("sync", "-q")
            #expect(sync.exitCode == 2, "\(sync)")
            #expect(sync.errorOutput.components(separatedBy: "BMO_TEST_NOT_SET").count == 2, "\(sync)")
            sync.expectMessages("Team and 2 more (bridge api): configuration: ")
            #expect(!sync.output.contains("finished"), "\(sync)")
        }

        @Test func `a relationship to many is shown as it is set`() async throws {
            let place = try RemoteWorkspace.notes()
            for name in ["a", "b", "c"] { try await place.expect("create", "Topic", "--set", "name=\(name)", "--push") }
            try await place.expect("create", "Note", "--set", "text=x", "--push")
            try await place.expect("update", "Note", "1", "--set", "tags=[3,1]")
            #expect(try await place.expect("get", "Note", "1", "--json").contains(#""tags":[3,1]"#))
            let text = try await place.expect("get", "Note", "1")
            #expect(text.contains(/\ntags +\[3,1\]\n/), "\(text)")
        }

        @Test func `an edit that a push does not send says what it waits for`() async throws {
            let lost = try RemoteWorkspace.notes(style: "limbo", match: nil)
            try await lost.expect("create", "Note", "--set", "text=a")
            _ = try await lost.bmo("push")
            let id = try lost.value("SELECT id FROM Note")
            _ = try await lost.bmo("update", "Note", "--set", "text=b", "--", id)
            let dry = try await lost.expect("push", "--dry-run")
            #expect(
                dry.hasSuffix(
                    """
                            not sent now: it waits for outbox 1 of the same object, which is unknown
                    dry run: 0 edits would be sent, 1 waits, 1 of unknown outcome would be looked up; nothing was sent

                    """), "\(dry)")
            let push = try await lost.bmo("push")
            #expect(push.output.contains("it waits for outbox 1 of the same object, which is unknown"), "\(push)")

            let place = try RemoteWorkspace.notes()
            for text in ["a", "b"] { try await place.expect("create", "Note", "--set", "text=\(text)") }
            try place.write(url: "http://127.0.0.1:1")
            let down = try await place.bmo("push", "--json")
            #expect(down.exitCode == 1)
            #expect(down.output.contains(#""message":"the bridge api is unreachable""#), "\(down)")
        }
    }
}
