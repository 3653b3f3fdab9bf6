import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo copy`: a database with its history and outbox in another kind of database.
    @Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
    struct CopyTests {
        private let server: PostgreSQLServer
        private let place: RemoteWorkspace<RemoteServer>

        init() async throws {
            server = try PostgreSQLServer.shared.get()
            place = try await RemoteWorkspace.site()
        }

        private func configure(_ database: String, as name: String = "bmo.yml") throws {
            try place.write(
                """
                version: 1
                database: \(database)
                bridges: {site: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Item:
                    bridge: site
                    key: [id, part]
                    writable: true
                    incremental: {field: at}
                    attributes:
                      {id: text, part: decimal, isOn: boolean, real: real, whole: integer, price: decimal, at: timestamp,
                       day: date, number: uuid, tree: json, bytes: data, page: url}
                    relationships: {owner: {to: Owner}, tags: {many: Tag}, next: {to: Item}}
                    rest:
                      path: /items.json
                      query: {since: "{since}"}
                      records: $.items
                      paging: none
                      write: {create: {}, update: {path: "/{id}"}}
                  Owner: {key: id, listing: none, attributes: {id: integer, name: text}}
                  Tag:
                    bridge: site
                    key: code
                    attributes: {code: text, name: text}
                    rest: {path: /tags.json, records: $.items, paging: none}
                """, to: name)
        }

        /// Items with values at the edges of their types, of which each third is bad.
        private func publish(state: Int) throws {
            let items = (1...30).map { number in
                """
                {"id": "i\(number) \u{E9}e\u{301}", "part": "\(number % 4).50", "isOn": \(number % 2 == state),
                 "real": \(Double(number) / 3 + Double(state)), "whole": \(Int64.max - Int64(number + state)),
                 "price": "\(number)0.10", "at": "2026-0\(state + 1)-01T10:00:00.\(100_000 + number)Z",
                 "day": "2026-02-0\(state + 1)", "number": "3f2504e0-4f89-11d3-9a0c-0305e82c33\(10 + number)",
                 "tree": {"z": [\(state), null], "a": "\u{1F600}"}, "bytes": "aGVsbG8=",
                 "page": "https://example.com/\(number)", "unread": 1, "owner": {"id": \(number % 5), "name": "o\(state)"},
                 "tags": ["t\(number % 7)", "t\(state)"],
                 "next": {"id": "i\(number + 1) \u{E9}e\u{301}", "part": "\((number + 1) % 4).50"}}
                """
            }
            let bad = #"{"id": "bad", "part": "1", "whole": "no number\#\u0000", "owner": 1}"#
            try place.publish("{\"items\": [\((items + [bad]).joined(separator: ",\n"))]}", as: "items.json")
            let tags = (0..<4).map { "{\"code\": \"t\($0)\", \"name\": \"tag \($0)\"}" }.joined(separator: ", ")
            try place.publish("{\"items\": [\(tags)]}", as: "tags.json")
        }

        /// What commands show of a database.
        private func shown(_ file: String) async throws -> [String] {
            var texts: [String] = []
            for command in [
                ["list", "Item"], ["list", "Owner"], ["list", "Tag"], ["runs"], ["diff", "1"], ["diff", "2"],
                ["outbox"],
                ["conflicts"], ["quarantine"], ["why", "Item", "i3 \u{E9}e\u{301}", "3.50"],
            ] {
                let run = try await place.bmo(command + ["--json", "-f", file])
                #expect(run.exitCode == 0, "\(run)")
                texts.append(run.output)
            }
            return texts
        }

        @Test func `a copy in PostgreSQL and its copy in a file have all that the original has`() async throws {
            try configure("bmo.sqlite")
            try publish(state: 0)
            try await place.expectSuccess("sync")
            try publish(state: 1)
            try await place.expectSuccess("sync", "--full")
            try await place.expectSuccess("update", "Item", "i3 \u{E9}e\u{301}", "3.50", "--set", "price=7.70")
            try await place.expectSuccess("create", "Item", "--set", "id=new", "--set", "part=1")
            // The order of a list that a program keeps.
            try SQLiteFile(place.database).rows(
                """
                CREATE TABLE bmo_collections (entity TEXT NOT NULL, name TEXT NOT NULL, page INTEGER NOT NULL,
                    request TEXT NOT NULL, cursor TEXT, next TEXT, is_last INTEGER NOT NULL, keys TEXT NOT NULL,
                    saved TEXT NOT NULL, PRIMARY KEY (entity, name, page)) STRICT, WITHOUT ROWID;
                """)
            try SQLiteFile(place.database).rows(
                """
                INSERT INTO bmo_collections VALUES ('Item', 'search: \u{E9}', 1, 'r', NULL, 'c 2', 0, '[["b"],["a"]]', 't'),
                    ('Item', 'search: \u{E9}', 2, 'r', 'c 2', NULL, 1, '[]', 't')
                """)
            let original = try await shown("bmo.yml")
            #expect(original.nonEmptyAllSatisfy { $0.contains("\n") })

            let location = server.newLocation()
            let there = try await place.expectSuccess("copy", "--to", location)
            #expect(there.output.contains("compared row by row"))
            try configure(location, as: "server.yml")
            #expect(try await shown("server.yml") == original)
            let back = try await place.bmo("copy", "--to", "back.sqlite", "-f", "server.yml", "--json")
            try #require(back.exitCode == 0, "\(back)")
            #expect(back.output.contains("\"Item\":32,") && back.output.contains("\"bmo_outbox\":2"), "\(back)")
            let (file, copy) = (
                try SQLiteFile(place.database), try SQLiteFile(place.folder.appending("back.sqlite"))
            )
            // The numbers of sources are of no account.
            let sources = """
                (SELECT entity, key, bridge, walk, columns, first_run, last_run, location, listed
                FROM bmo_provenance JOIN bmo_sources USING (entity) WHERE bmo_sources.id = source)
                """
            for table in [
                "Item", "Owner", "Tag", "Item_tags", "bmo_stubs", "bmo_runs", "bmo_changes", "bmo_outbox",
                "bmo_conflicts",
                "bmo_cursors", "bmo_members", "bmo_collections", "bmo_unknown_fields", "bmo_orphans", sources,
            ] {
                let rows = try file.rows("SELECT * FROM \(table)").map { "\($0)" }.sorted()
                #expect(try copy.rows("SELECT * FROM \(table)").map { "\($0)" }.sorted() == rows, "\(table)")
            }
            #expect(try copy.rows("PRAGMA foreign_key_check").isEmpty)

            // Both go on where the original stopped.
            try configure("back.sqlite", as: "back.yml")
            for name in ["server.yml", "back.yml"] {
                let sync = try await place.bmo("sync", "-f", name)
                #expect(sync.exitCode == 0, "\(sync)")
                let status = try await place.bmo("runs", "--json", "-f", name)
                #expect(!status.output.contains("\"id\":5"), "the sync has found nothing new: \(status)")
                let update = try await place.bmo("update", "Tag", "t1", "--set", "name=x", "-f", name)
                #expect(update.exitCode == 2, "Tag is not writable: \(update)")
                let undo = try await place.bmo("undo", "2", "--dry-run", "-f", name)
                #expect(undo.allOutput.contains("i3"), "a later edit is in the way: \(undo)")
            }
        }

        @Test func `a value that PostgreSQL cannot store fails the copy, and nothing is left of it`() async throws {
            try configure("bmo.sqlite")
            try place.publish(#"{"items": [{"id": "a\#\u0000b", "part": "1"}]}"#, as: "items.json")
            try place.publish(#"{"items": []}"#, as: "tags.json")
            try await place.expectSuccess("sync")
            let location = server.newLocation()
            let copy = try await place.bmo("copy", "--to", location)
            #expect(copy.exitCode == 1 && copy.allOutput.contains("Item.id"), "\(copy)")
            #expect(copy.allOutput.contains("the character U+0000, which PostgreSQL cannot store"), "\(copy)")
            let schema = PostgreSQLServer.schema(of: location)
            #expect(try server.rows("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == ["0"])
        }

        @Test func `rows that an earlier version kept for equal decimals are named, and fail the copy`() async throws {
            try configure("bmo.sqlite")
            try place.publish(#"{"items": [{"id": "a", "part": "1.50"}, {"id": "b", "part": "1"}]}"#, as: "items.json")
            try place.publish(#"{"items": []}"#, as: "tags.json")
            try await place.expectSuccess("sync")
            let file = try SQLiteFile(place.database)
            try file.rows("CREATE TEMP TABLE other AS SELECT * FROM Item WHERE id = 'a'")
            try file.rows("UPDATE other SET part = '1.50'")
            try file.rows("INSERT INTO Item SELECT * FROM other")
            let copy = try await place.bmo("copy", "--to", server.newLocation())
            #expect(copy.exitCode == 1, "\(copy)")
            #expect(copy.allOutput.contains("equal decimals in their keys (a 1.5 and a 1.50)"), "\(copy)")
            #expect(copy.allOutput.contains("`bmo sync --full Item`"), "\(copy)")
            // The next full sync of the source removes the other row.
            try await place.expectSuccess("sync", "--full", "--allow-deletes")
            try await place.expectSuccess("copy", "--to", server.newLocation())
        }

        @Test func `a target that has rows is refused, and so is a password`() async throws {
            try configure("bmo.sqlite")
            try publish(state: 0)
            _ = try await place.bmo("sync")
            let location = server.newLocation()
            try await place.expectSuccess("copy", "--to", location)
            for (target, words) in [
                (location, "already has content"), ("bmo.sqlite", "--to names the database itself"),
                ("bmo.yml", "already has content"), ("postgresql://me:secret@host/crm", "--to contains a password"),
            ] {
                let copy = try await place.bmo("copy", "--to", target)
                #expect(copy.exitCode != 0 && copy.allOutput.contains(words), "\(copy)")
                #expect(!copy.allOutput.contains("secret"))
            }
            #expect(!FileManager.default.fileExists(atPath: place.folder.appending("bmo.yml-copying")))
        }
    }
}
