import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Records that leave out what is empty.
    @Suite struct AbsenceTests {
        private func site(
            bridge: String = "", issue: String = "", attributes: String = "", section: String = "", more: String = ""
        ) async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try write(site, bridge: bridge, issue: issue, attributes: attributes, section: section, more: more)
            try site.publish(
                """
                [{"id": 1, "subject": "a", "assigned_to": {"id": 7, "name": "Ann"}, "tags": ["x"]},
                 {"id": 2, "subject": "b"}]
                """, as: "issues.json")
            try site.publish(#"[{"id": 7, "name": "Ann", "mail": "ann@example.org"}]"#, as: "people.json")
            return site
        }

        private func write(
            _ site: RemoteWorkspace<RemoteServer>, bridge: String = "", issue: String = "", attributes: String = "",
            section: String = "",
            more: String = ""
        ) throws {
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest\(bridge), options: {url: "@URL@"}}}
                entities:
                  Person:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text, mail: text}
                    rest: {path: /people.json}
                  Issue:
                    bridge: api
                    key: id
                    attributes: {id: integer, subject: text, tags: json\(attributes)}
                    relationships: {assigned_to: {to: Person}}
                    rest: {path: /issues.json\(section)}
                \(issue.isEmpty ? "" : "    " + issue)
                \(more)
                """)
        }

        private static let unassigned = #"[{"id": 1, "subject": "a"}, {"id": 2, "subject": "b"}]"#

        private func issues(_ site: RemoteWorkspace<RemoteServer>) async throws -> String {
            try await site.query("SELECT id, subject, tags, assigned_to FROM Issue ORDER BY id")
        }

        @Test func `a member that the listing brings is null where a record lacks it`() async throws {
            let site = try await site()
            try await site.expectSuccess("sync")
            #expect(try await issues(site) == "1|a|[\"x\"]|7\n2|b||")
            #expect(
                try await site.query("SELECT * FROM Person") == "7|Ann|ann@example.org",
                "the summary in the issue says nothing of the mail")
            try site.publish(
                #"[{"id": 1, "subject": "a", "tags": ["x"]}, {"id": 2, "subject": "b", "assigned_to": {"id": 7}}]"#,
                as: "issues.json")
            let second = try await site.expectSuccess("sync")
            #expect(try await issues(site) == "1|a|[\"x\"]|\n2|b||7")
            #expect(!second.errorOutput.contains("any more"), "\(second)")
            #expect(try await site.expectSuccess("diff").output.contains("assigned_to"), "history has the null")
            let runs = try await site.query("SELECT max(id) FROM bmo_runs")
            try await site.expectSuccess("undo", runs.trimmingCharacters(in: .newlines))
            #expect(try await issues(site) == "1|a|[\"x\"]|7\n2|b||")
            // Nothing new: not a byte is written.
            try await site.expectSuccess("sync")
            let before = site.bytes()
            try await site.expectSuccess("sync")
            #expect(site.bytes() == before)
        }

        @Test func `a member that no record has any more is reported once`() async throws {
            let site = try await site()
            try await site.expectSuccess("sync")
            try site.publish(Self.unassigned, as: "issues.json")
            let second = try await site.expectSuccess("sync")
            #expect(try await issues(site) == "1|a||\n2|b||")
            let words = "although earlier records did: the stored values are now null"
            #expect(second.errorOutput.contains("no record has `assigned_to` any more, \(words)"), "\(second)")
            #expect(second.errorOutput.contains("no record has `tags` any more"), "\(second)")
            let third = try await site.expectSuccess("sync")
            #expect(!third.errorOutput.contains("any more"), "\(third)")
            try site.publish("[]", as: "issues.json")
            let empty = try await site.bmo("sync", "--allow-deletes")
            #expect(!empty.errorOutput.contains("any more"), "an empty listing has no records: \(empty)")
        }

        @Test func `a sync reports a misspelt path, and not an optional member`() async throws {
            let site = try await site(attributes: ", city: {type: text, from: adress.city}")
            try site.publish(#"[{"id": 1, "subject": "a", "address": {"city": "X"}}, {"id": 2}]"#, as: "issues.json")
            let sync = try await site.expectSuccess("sync", "Issue")
            let words =
                #"attribute "city" reads "adress.city", and none of the 2 records has anything there; "#
                + #"did you mean "address.city"?"#
            #expect(sync.errorOutput.components(separatedBy: words).count == 2, "once a run: \(sync)")
            // Where every member is read, a path that leads nowhere is an optional one's: here that of `tags`.
            try write(site, attributes: ", city: {type: text, from: address.city}")
            let right = try await site.expectSuccess("sync", "Issue")
            #expect(!right.errorOutput.contains("has anything there"), "\(right)")
            #expect(try await site.query("SELECT city FROM Issue WHERE id = 1") == "X")
        }

        @Test func `another section is not evidence of what a listing brings`() async throws {
            let site = try await site()
            try await site.expectSuccess("sync")
            try write(site, section: ", query: {fields: \"id,subject\"}")
            try site.publish(Self.unassigned, as: "issues.json")
            let second = try await site.expectSuccess("sync")
            #expect(try await issues(site) == "1|a|[\"x\"]|7\n2|b||")
            #expect(
                second.errorOutput.contains(
                    "no record has `tags` any more, although earlier records did: the stored"), "\(second)")
        }

        @Test(arguments: [
            ("absent: keep", "", ""), ("", ", absent: keep", ""), ("absent: keep", ", absent: null", ""),
            ("absent: null", "", ", absent: keep"),
        ])
        func `keep keeps`(_ issue: String, _ bridge: String, _ attribute: String) async throws {
            let note = ", note: {type: text\(attribute)}"
            let site = try await site(bridge: bridge, issue: issue, attributes: note)
            try site.publish(#"[{"id": 1, "subject": "a", "tags": [1], "note": "n"}]"#, as: "issues.json")
            try await site.expectSuccess("sync")
            try site.publish(#"[{"id": 1, "subject": "b"}]"#, as: "issues.json")
            try await site.expectSuccess("sync")
            let tags = issue == "absent: null" ? "" : "[1]"
            #expect(try await site.query("SELECT subject, tags, note FROM Issue") == "b|\(tags)|n")
        }

        @Test func `null clears what the listing never brings`() async throws {
            let site = try await site(issue: "absent: null")
            try site.publish(Self.unassigned, as: "issues.json")
            try await site.expectSuccess("sync")
            let file = try SQLiteFile(site.database)
            try file.rows("UPDATE Issue SET tags = '[5]'")
            try await site.expectSuccess("sync")
            #expect(try await issues(site) == "1|a||\n2|b||")
        }

        @Test func `a value that waits to be sent is merged as if the record said null`() async throws {
            let site = try await site(issue: "writable: true", section: ", write: {update: {}}")
            try await site.expectSuccess("sync")
            try await site.expectSuccess("update", "Issue", "1", "--set", "subject=mine")
            try site.publish(#"[{"id": 1, "assigned_to": {"id": 7}}, {"id": 2, "subject": "b"}]"#, as: "issues.json")
            try await site.expectSuccess("sync")
            #expect(try await issues(site) == "1|mine||7\n2|b||", "the edit counts, the rest is the remote's")
            let conflicts = try await site.query("SELECT \"column\", remote FROM bmo_conflicts")
            #expect(conflicts.hasPrefix("subject|"), "\(conflicts)")
        }

        @Test func `what a source of higher precedence brought stays`() async throws {
            let facts = "facts: {bridge: api, attributes: {mark: text}, rest: {path: /facts.json}}"
            let site = try await site(
                issue: "precedence: [facts, main]", attributes: ", mark: text", more: "    sources: {\(facts)}")
            let issue = #"{"id": 2, "subject": "b", "mark": "main"}"#
            try site.publish(#"[{"id": 1, "subject": "a", "mark": "main"}, \#(issue)]"#, as: "issues.json")
            try site.publish(#"[{"id": 1, "mark": "facts"}, {"id": 3}]"#, as: "facts.json")
            try await site.expectSuccess("sync")
            try site.publish(#"[{"id": 1, "subject": "a"}, \#(issue)]"#, as: "issues.json")
            try await site.expectSuccess("sync")
            #expect(try await site.query("SELECT id, mark FROM Issue WHERE id < 3") == "1|facts\n2|main")
        }
    }
}
