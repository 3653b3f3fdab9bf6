import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// `attributes: auto`: what comes, typed by a first look, and more of it later.
    @Suite struct AutomaticAttributesTests {
        private func site(_ entity: String = "", users: String) async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                defaults: {bridge: api, key: id, rest: {records: $.users}}
                entities:
                  User:
                    attributes: auto
                    relationships: {team: {to: Team}}
                    rest: {path: /users.json}
                    \(entity)
                  Team: {listing: none, key: id, attributes: {id: integer, name: text}}
                """)
            try publish(users, on: site)
            return site
        }

        private func publish(_ users: String, on site: RemoteWorkspace<RemoteServer>) throws {
            try site.publish("{\"users\": [\(users)]}", as: "users.json")
        }

        private func learned(_ site: RemoteWorkspace<RemoteServer>) throws -> String {
            let text = try String(contentsOfFile: site.folder.appending("bmo.auto.yml"), encoding: .utf8)
            return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
        }

        private static let first = """
            {"id": 1, "name": "Ann", "first-name": "A", "score": 1.5, "at": "2026-01-02T03:04:05Z", "tags": ["x"],
             "big": 18446744073709551615, "team": {"id": 7, "name": "T"}, "note": null, "Name": "other"},
            {"id": 2, "name": "", "score": 2, "at": "", "active": true, "day": "2026-01-02", "code": 1},
            {"id": 3, "code": "c", "extra": 1}
            """

        @Test func `what comes is typed by a first look, and commands without a network know it`() async throws {
            let site = try await site("conflicts: {newest: at}", users: Self.first)
            for before in [
                try await site.bmo("check"), try await site.bmo("list", "User"),
                try await site.bmo("sync", "--dry-run"),
            ] {
                #expect(before.exitCode == 2, "\(before)")
                #expect(before.errorOutput.split(separator: "\n").count == 1, "nothing that follows from it: \(before)")
                #expect(
                    before.errorOutput.contains(
                        "the attributes of entity \"User\" are \"auto\", and no sync has seen its records yet"),
                    "\(before)")
            }
            let sync = try await site.expectSuccess("sync")
            #expect(sync.errorOutput.contains("bmo: note: User: 12 attributes, as the first 3 records have them"))
            #expect(
                try learned(site) == """
                    User:
                      id: integer
                      name: text
                      first_name: {type: text, from: first-name}
                      score: real
                      at: {type: timestamp, transform: empty_as_null}
                      tags: json
                      big: decimal
                      Name_2: {type: text, from: Name}
                      active: boolean
                      day: {type: date, transform: empty_as_null}
                      code: text
                      extra_2: {type: integer, from: extra}
                    """)
            #expect(
                try await site.query(
                    "SELECT id, name, first_name, score, at, tags, big, Name_2, active, team FROM User")
                    == "1|Ann|A|1.5|2026-01-02T03:04:05.000000Z|[\"x\"]|18446744073709551615|other||7\n"
                    + "2|||2.0|||||1|\n3|||||||||")
            site.stop()
            #expect(try await site.expectSuccess("list", "User", "--where", "code=c").output.contains("3"))
            for command in ["check", "migrate", "status", "schema"] { try await site.expectSuccess(command) }
        }

        @Test func `a new member adds a column in a later sync, and nothing of it is lost before`() async throws {
            let site = try await site(users: #"{"id": 1, "name": "a"}"#)
            try await site.expectSuccess("sync")
            try publish(
                #"{"id": 1, "name": "a", "age": 5}, {"id": 2, "name": "b", "address": {"city": "X"}}"#, on: site)
            let second = try await site.expectSuccess("sync")
            #expect(!second.errorOutput.contains("note"), "\(second)")
            #expect(
                try await site.query("SELECT id, extra FROM User")
                    == "1|{\"age\":5}\n2|{\"address\":{\"city\":\"X\"}}")
            let third = try await site.expectSuccess("sync")
            #expect(
                third.errorOutput.contains(
                    "User: new in its records, and attributes from now on: age integer, address json"),
                "\(third)")
            #expect(
                try await site.query("SELECT id, age, address, extra FROM User")
                    == "1|5||\n2||{\"city\":\"X\"}|")
            let fourth = try await site.expectSuccess("sync")
            #expect(!fourth.errorOutput.contains("note"), "\(fourth)")
        }

        @Test func `what does not fit is kept in quarantine and said, with the type that would take it`() async throws {
            let site = try await site(users: #"{"id": 1, "age": 5}"#)
            try await site.expectSuccess("sync")
            try publish(#"{"id": 1, "age": 5}, {"id": 2, "age": 5.5}"#, on: site)
            let clash = try await site.bmo("sync")
            #expect(clash.errorOutput.contains("User.age: the number 5.5 is not an integer of 64 bits"), "\(clash)")
            let next = try await site.bmo("sync")
            #expect(
                next.errorOutput.contains(
                    "User.age is integer, which records in quarantine do not fit: to accept them, give it the type real in "
                        + "bmo.auto.yml, then run `bmo migrate --apply`"), "\(next)")
            #expect(try learned(site).contains("age: integer"))
            let path = site.folder.appending("bmo.auto.yml")
            try String(contentsOfFile: path, encoding: .utf8).replacing("age: integer", with: "age: real")
                .write(toFile: path, atomically: true, encoding: .utf8)
            try await site.expectSuccess("migrate", "--apply")
            let last = try await site.expectSuccess("sync")
            #expect(!last.errorOutput.contains("note"), "\(last)")
            #expect(try await site.query("SELECT id, age FROM User") == "1|5.0\n2|5.5")
        }

        @Test func `a recorded case has what was learned, and is replayed with it`() async throws {
            let site = try await site(users: Self.first)
            #expect(try await site.bmo("fixtures", "record", "users").exitCode == 2)
            try await site.expectSuccess("sync")
            try await site.expectSuccess("fixtures", "record", "users")
            site.stop()
            let run = try await site.expectSuccess("fixtures", "run")
            #expect(run.output.contains("users"), "\(run)")
            let found = try FileManager.default.subpathsOfDirectory(atPath: site.folder.path)
            #expect(found.contains { $0.hasSuffix("users/bmo.auto.yml") }, "\(found)")
        }

        @Test func `a type is inferred only where it accepts all values`() async throws {
            let users = """
                {"id": 1, "ex": 1e400, "huge": 1e2000, "day": "2026-01-01", "at": "2026-01-02T03:04:05Z"},
                {"id": 2, "ex": 1.5, "huge": 1.5, "day": "2026-13-01", "at": "2026-01-02T25:04:05Z"}
                """
            let site = try await site(users: users)
            try await site.expectSuccess("sync")
            #expect(
                try learned(site) == """
                    User:
                      id: integer
                      ex: decimal
                      huge: text
                      day: text
                      at: text
                    """)
            #expect(try await site.query("SELECT id, huge, day FROM User") == "1|1e2000|2026-01-01\n2|1.5|2026-13-01")
        }

        @Test func `it may be the default of all entities`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                defaults: {bridge: api, key: id, attributes: auto, relationships: {owner: {to: Own}}}
                entities:
                  A: {rest: {path: /a.json}}
                  Own: {attributes: {id: integer}, relationships: {owner: {to: Own, from: boss}}, rest: {path: /own.json}}
                """)
            try site.publish(#"[{"id": "x", "size": 1, "owner": 3}]"#, as: "a.json")
            try site.publish(#"[{"id": 3}]"#, as: "own.json")
            try await site.expectSuccess("sync")
            #expect(try learned(site) == "A:\n  id: text\n  size: integer")
            #expect(try await site.query("SELECT id, size, owner FROM A") == "x|1|3")
        }

        @Test func `what cannot be learned is refused with a reason`() async throws {
            let empty = try await site(users: "").bmo("sync")
            #expect(empty.exitCode != 0)
            #expect(empty.errorOutput.contains("the 0 records of its listing's first page have no member"), "\(empty)")
            let parent = try await site("parent: team", users: Self.first).bmo("sync")
            #expect(parent.exitCode == 2)
            #expect(parent.errorOutput.contains("has \"attributes: auto\" and \"parent\""), "\(parent)")
            let spoilt = try await site(users: Self.first)
            try spoilt.folder.write("User: {id: integr}\n", to: "bmo.auto.yml")
            let check = try await spoilt.bmo("check")
            #expect(check.errorOutput.contains("bmo.auto.yml:1:"), "\(check)")
            #expect(check.errorOutput.contains("integr"), "\(check)")
            for text in ["User:\n  id: integer\n age: real\n", "- User\n"] {
                try spoilt.folder.write(text, to: "bmo.auto.yml")
                let sync = try await spoilt.bmo("sync")
                #expect(sync.exitCode == 2 && sync.errorOutput.contains("bmo.auto.yml:"), "\(sync)")
                #expect(
                    try String(contentsOfFile: spoilt.folder.appending("bmo.auto.yml"), encoding: .utf8) == text,
                    "what was changed by hand stays")
            }
            let odd = [
                "", "@index", "$[a", "a[*]", #"\u0000"#, #"\n"#, "a.b", "$ref", "$", "\u{e9}", "rowid", "bmo_x", "1st",
                "'",
            ]
            let members = odd.map { "\"\($0)\": 1" }.joined(separator: ", ")
            let strange = try await site(users: "{\"id\": 1, \(members)}")
            try await strange.expectSuccess("sync")
            try await strange.expectSuccess("sync")
            let row = try await strange.query(
                "SELECT a_b, ref, field, field_2, field_3, _rowid, _bmo_x, _1st FROM User")
            let names = try learned(strange)
            #expect(row == "1|1|1|1|1|1|1|1", "\(names)")
            #expect(
                try await strange.query("SELECT count(*) FROM User, json_each(User.extra)") == "6",
                "what no configuration can name stays there")
            let many = (0..<600).map { "\"m\($0)\": \($0)" }.joined(separator: ", ")
            let wide = try await site(users: "{\"id\": 1, \(many)}")
            try await wide.expectSuccess("sync")
            #expect(try await wide.query("SELECT count(*) FROM pragma_table_info('User')") == "502")
            #expect(try await wide.query("SELECT json_extract(extra, '$.m599') FROM User") == "599")
        }
    }
}
