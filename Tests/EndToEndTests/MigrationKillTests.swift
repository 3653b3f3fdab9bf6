import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// A migration that is killed while it copies the database first.
    @Suite struct MigrationKillTests {
        private static let notes = 60_000

        private static func config(_ type: String) -> String {
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "http://127.0.0.1:9"}}}
            entities:
              Note: {bridge: api, key: id, attributes: {id: integer, text: text, code: \(type)}, rest: {path: /notes, records: $}}

            """
        }

        /// What a kill left under that name could be opened: an empty database.
        @Test func `a copy has the name of a copy only when it is whole`() async throws {
            let folder = try TemporaryFolder()
            try folder.write(Self.config("text"), to: "bmo.yml")
            // There is no server: the tables are made all the same.
            _ = try await ProcessRun.run(BuiltCommand.path(), ["sync", "-q"], directory: folder.path)
            let fill = try await sqlite(
                folder.appending("bmo.sqlite"),
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.notes))
                INSERT INTO Note (id, text, code) SELECT i, printf('%0500d', i), i FROM n;
                PRAGMA wal_checkpoint(TRUNCATE);
                """)
            try #require(fill.exitCode == 0, "\(fill)")
            try folder.write(Self.config("integer"), to: "bmo.yml")

            let migration = try RunningProcess(BuiltCommand.path(), ["migrate", "--apply"], directory: folder.path)
            try await eventually("the copy begins") { try !copies(in: folder).isEmpty }
            migration.signal(SIGKILL)
            let killed = try await migration.finish()
            try #require(killed.signal == SIGKILL, "\(killed)")
            try await expectWhole(copies(in: folder), in: folder)

            let again = try await ProcessRun.run(BuiltCommand.path(), ["migrate", "--apply"], directory: folder.path)
            #expect(again.exitCode == 0, "\(again)")
            let left = try copies(in: folder)
            #expect(!left.isEmpty && !left.contains { $0.contains("part") }, "\(left)")
            try await expectWhole(left, in: folder)
        }

        private func copies(in folder: TemporaryFolder) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix("bmo.sqlite-before-")
            }
        }

        private func expectWhole(_ copies: [String], in folder: TemporaryFolder) async throws {
            for copy in copies where !copy.contains("part") {
                let run = try await sqlite(folder.appending(copy), "SELECT count(*) FROM Note")
                #expect(run.output == "\(Self.notes)\n", "\(copy): \(run)")
            }
        }

        private func sqlite(_ database: String, _ sql: String) async throws -> ProcessRun {
            try await ProcessRun.run("sqlite3", [database, sql])
        }
    }
}
