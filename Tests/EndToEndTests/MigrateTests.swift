import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A configuration that changes, and the database that goes with it.
    @Suite struct MigrateTests {
        @Test func `a changed config is reported, shown as a plan, and followed after a backup`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let none = try await workplace.bmo("migrate")
            #expect(none.exitCode == 2, "\(none)")
            none.expectMessages("there is no database", "`bmo sync` creates it")
            let first = try await workplace.bmo("sync", "Country")
            try #require(first.exitCode == 0, "\(first)")
            let text = try String(contentsOfFile: workplace.folder.appending("bmo.yml"), encoding: .utf8)
            try workplace.folder.write(
                text.replacing("      numeric: text\n", with: "      numeric: integer\n", maxReplacements: 1)
                    .replacing(
                        "      name: text\n      officialName:",
                        with: "      title: {type: text, from: name, renamed_from: name}\n      officialName:"),
                to: "bmo.yml")

            let refused = try await workplace.bmo("sync", "Country")
            #expect(refused.exitCode == 2, "\(refused)")
            refused.expectMessages("convert Country.numeric from text to integer", "`bmo migrate`")

            let plan = try await workplace.bmo("migrate")
            #expect(plan.exitCode == 0, "\(plan)")
            #expect(
                plan.output == """
                    - rename the column Country.name to title
                    - convert Country.numeric from text to integer: all 249 values fit
                    `bmo sync` does not do this; `bmo migrate --apply` does, after a backup

                    """)

            let migration = try await workplace.bmo("migrate", "--apply")
            #expect(migration.exitCode == 0, "\(migration)")
            let backup = workplace.database + "-before-"
            let names = try FileManager.default.contentsOfDirectory(atPath: workplace.folder.path)
            let made = try #require(names.first { workplace.folder.appending($0).hasPrefix(backup) })
            #expect(
                migration.output.hasSuffix(
                    "2 changes made; the previous database: \(workplace.folder.appending(made))\n"))
            let old = try await ProcessRun.run(
                "sqlite3", [workplace.folder.appending(made), "SELECT numeric, name FROM Country WHERE alpha2 = 'AL'"])
            #expect(old.output == "008|Albania\n")

            let list = try await workplace.bmo("list", "Country", "--where", "alpha2=AL", "--json")
            #expect(list.output.contains(#""numeric":8,"title":"Albania""#), "\(list)")
            let again = try await workplace.bmo("sync", "Country", "--json")
            #expect(again.exitCode == 0 && again.output.contains(#""unchanged":249"#), "\(again)")
            let done = try await workplace.bmo("migrate")
            #expect(done.output == "the database fits the configuration\n")
        }

        @Test func `a row that a migration quarantined is not mapped again`() async throws {
            let site = try await RemoteWorkspace.site()
            func configure(_ type: String) throws {
                try site.write(
                    """
                    version: 1
                    database: bmo.sqlite
                    bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                    entities:
                      Post:
                        bridge: api
                        key: id
                        attributes:
                          id: {type: integer, from: _id}
                          title: {type: text, transform: {prefix: "T-"}}
                          size: \(type)
                        rest: {path: /posts.json, paging: none}
                    """)
            }
            try configure("text")
            try site.publish(#"[{"_id": 1, "title": "a", "size": "1.5"}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try configure("integer")
            try await site.expectSuccess("migrate", "--apply")
            try configure("decimal")
            try await site.expectSuccess("migrate", "--apply")
            let retry = try await site.expectSuccess("quarantine", "retry")
            #expect(retry.output.contains("a row from before `bmo migrate`, with local values"), "\(retry)")
            #expect(try await site.query("SELECT id, title, size FROM Post") == "1|T-a|")
            #expect(try await site.expectSuccess("why", "Post", "1").output.contains("in quarantine since"))
            try await site.expectSuccess("sync", "--full")
            #expect(try await site.query("SELECT id, title, size FROM Post") == "1|T-a|1.5")
            #expect(try await site.expectSuccess("quarantine").words.last == "0 records in quarantine")
        }

        @Test func `a run from before a list was renamed can be undone`() async throws {
            let site = try await RemoteWorkspace.site()
            func configure(_ list: String) throws {
                try site.write(
                    """
                    version: 1
                    database: bmo.sqlite
                    bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                    entities:
                      Tag: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /tags.json, paging: none}}
                      Post:
                        bridge: api
                        key: id
                        attributes: {id: integer}
                        relationships: {\(list)}
                        rest: {path: /posts.json, paging: none}
                    """)
            }
            try configure("tags: {many: Tag}")
            try site.publish(#"[{"id": 1}, {"id": 2}]"#, as: "tags.json")
            try site.publish(#"[{"id": 1, "tags": [1, 2]}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try site.publish(#"[{"id": 1, "tags": [1]}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try configure("labels: {many: Tag, from: tags, renamed_from: tags}")
            let plan = try await site.expectSuccess("migrate")
            #expect(plan.output.contains("- rename the column Post.tags to labels\n"), "\(plan)")
            try await site.expectSuccess("sync")
            let difference = try await site.expectSuccess("diff", "2")
            #expect(difference.words.contains("Post 1 relinked labels [1, 2] -> [1]"), "\(difference)")
            try await site.expectSuccess("undo", "2")
            #expect(try await site.query("SELECT count(*) FROM Post_labels") == "2")
        }

        @Test func `sub-entities of a listing are recognised and listed by themselves`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let text = try String(contentsOfFile: workplace.folder.appending("bmo.yml"), encoding: .utf8)
            try workplace.folder.write(
                text.replacing(
                    "  Currency:\n",
                    with: """
                          Archipelago:
                            extends: Country
                            when: {property: name, matches: "Islands"}
                            attributes: {group: {type: text, from: name}}
                          Currency:

                        """, maxReplacements: 1), to: "bmo.yml")
            let sync = try await workplace.bmo("sync", "Archipelago")
            try #require(sync.exitCode == 0, "\(sync)")
            let all = try await workplace.count("Country")
            #expect(all == 249)
            let islands = try await workplace.bmo("list", "Archipelago", "--where", "alpha2=AX", "--csv")
            #expect(islands.output.contains("AX,ALA,248,Åland Islands,"), "\(islands)")
            let none = try await workplace.bmo("list", "Archipelago", "--where", "alpha2=FR")
            #expect(none.output.contains("0 rows"), "\(none)")
        }
    }
}
