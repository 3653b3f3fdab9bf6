import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// The built command with a PostgreSQL database in place of a file.
    @Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
    struct PostgreSQLTests {
        /// BMO_TEST_KILLS=200 kills as often as that.
        private static let kills = ProcessInfo.processInfo.environment["BMO_TEST_KILLS"].flatMap { Int($0) } ?? 20

        private let server: PostgreSQLServer
        private let place: RemoteWorkspace<RemoteServer>

        init() throws {
            server = try PostgreSQLServer.shared.get()
            place = try RemoteWorkspace.people()
        }

        private func schema(_ location: String) -> String { PostgreSQLServer.schema(of: location) }

        /// All rows of all entities and links, stubs, and what is in quarantine or on its way.
        private func contents(of location: String) throws -> [String] {
            let schema = schema(location)
            return try [
                #""Person""#, #""Team""#, #""Badge""#, #""Person_badges""#, "bmo_stubs",
                "(SELECT entity, page, record, reason, representation FROM %.bmo_quarantine)", "bmo_progress",
            ].flatMap { table in
                let name = table.hasPrefix("(") ? table.replacing("%", with: schema) + " q" : "\(schema).\(table)"
                let columns = table == #""Badge""# ? "code" : "*"
                return try server.rows("SELECT \(columns) FROM \(name)").map { "\(table.prefix(16)): \($0)" }.sorted()
            }
        }

        @Test func `a sync into PostgreSQL has the rows of one into a file, and a second one changes nothing`()
            async throws
        {
            let location = server.newLocation()
            let first = try await place.sync("pg.sqlite", location: location).finish(within: .seconds(60))
            try #require(first.exitCode == 0, "\(first)")
            let file = try await place.sync("file.sqlite").finish(within: .seconds(60))
            try #require(file.exitCode == 0, "\(file)")
            let rows = try contents(of: location).filter { $0.hasPrefix("\"Person\"") || $0.hasPrefix("\"Team\"") }
            let expected = try place.contents(of: "file.sqlite")
                .filter { $0.hasPrefix("Person:") || $0.hasPrefix("Team:") }
            #expect(rows.count == expected.count && rows.count > PeoplePages.count)
            let version = try server.rows("SELECT version, last_run FROM \(schema(location)).bmo_database")
            let second = try await place.sync("pg.sqlite", location: location).finish(within: .seconds(60))
            #expect(second.exitCode == 0, "\(second)")
            let quarantined = try server.rows("SELECT count(*) FROM \(schema(location)).bmo_quarantine")
            #expect(quarantined == ["7"], "the records with an age that is no number")
            // Records in quarantine are seen again, which is written; nothing else is.
            #expect(try server.rows("SELECT last_run FROM \(schema(location)).bmo_database").count == version.count)
            let changes = try server.rows(
                "SELECT count(*) FROM \(schema(location)).bmo_changes WHERE run > 1")
            #expect(changes == ["0"])
        }

        @Test func `a run from before an attribute and a list were renamed can be undone`() async throws {
            let site = try await RemoteWorkspace.site()
            let location = server.newLocation()
            func configure(_ attribute: String, _ list: String) throws {
                try site.write(
                    """
                    version: 1
                    database: "\(location)"
                    bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                    entities:
                      Tag: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /tags.json, paging: none}}
                      Post:
                        bridge: api
                        key: id
                        attributes: {id: integer, \(attribute)}
                        relationships: {\(list)}
                        rest: {path: /posts.json, paging: none}
                    """)
            }
            try configure("name: text", "tags: {many: Tag}")
            try site.publish(#"[{"id": 1}, {"id": 2}]"#, as: "tags.json")
            try site.publish(#"[{"id": 1, "name": "a", "tags": [1, 2]}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try site.publish(#"[{"id": 1, "name": "b", "tags": [1]}]"#, as: "posts.json")
            try await site.expectSuccess("sync")
            try configure(
                "title: {type: text, from: name, renamed_from: name}",
                "labels: {many: Tag, from: tags, renamed_from: tags}")
            try await site.expectSuccess("sync")
            let difference = try await site.expectSuccess("diff", "2")
            #expect(difference.words.contains("labels [1, 2] -> [1]"), "\(difference)")
            try await site.expectSuccess("undo", "2")
            #expect(try server.rows("SELECT title FROM \(schema(location)).\"Post\"") == ["a"])
            #expect(try server.rows("SELECT count(*) FROM \(schema(location)).\"Post_labels\"") == ["2"])
        }

        @Test func `a sync that is killed at any instant and run again brings the rows of one that was not`()
            async throws
        {
            let cleanLocation = server.newLocation()
            let start = ContinuousClock.now
            let cleanRun = try await place.sync("clean.sqlite", location: cleanLocation).finish(within: .seconds(60))
            var window = ContinuousClock.now - start
            try #require(cleanRun.exitCode == 0, "\(cleanRun)")
            let clean = try contents(of: cleanLocation)
            #expect(clean.count > 2 * PeoplePages.count)
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            var location = server.newLocation()
            var killed = 0
            var resumed = 0
            while killed < Self.kills {
                let run = try place.sync("killed.sqlite", location: location)
                try await Task.sleep(for: window * Double.random(in: 0..<1, using: &random))
                run.signal(SIGKILL)
                let ended = try await run.finish(within: .seconds(60))
                killed += ended.signal == SIGKILL ? 1 : 0
                window = window * (ended.signal == SIGKILL ? 1.1 : 0.7)
                resumed += ended.allOutput.contains("continuing after page") ? 1 : 0
                let what: Comment = "seed \(seed), kill \(killed): \(ended)"
                try #require(ended.signal == SIGKILL || ended.exitCode == 0, what)
                guard ended.exitCode == 0 else { continue }
                try #require(try contents(of: location) == clean, what)
                location = server.newLocation()
            }
            let last = try await place.sync("killed.sqlite", location: location).finish(within: .seconds(60))
            #expect(last.exitCode == 0, "seed \(seed): \(last)")
            #expect(try contents(of: location) == clean, "seed \(seed)")
            #expect(resumed > 0, "seed \(seed): no sync went on after a page")
        }

        @Test func `an unreachable server is an error that names it, and a literal password is refused`() async throws {
            let away = try await place.sync(
                "away.sqlite", location: "postgresql://bmo@%2Fnonexistent/crm?schema=people"
            )
            .finish(within: .seconds(60))
            #expect(away.exitCode != 0)
            #expect(away.allOutput.contains("PostgreSQL at /nonexistent, database crm, schema people"), "\(away)")
            let literal = try await place.sync("literal.sqlite", location: "postgresql://bmo:s3cret@localhost/crm")
                .finish(within: .seconds(60))
            #expect(literal.exitCode == 2, "\(literal)")
            #expect(literal.allOutput.contains("\"database\" contains a password"), "\(literal)")
            #expect(!literal.allOutput.contains("s3cret"), "\(literal)")
        }
    }
}
