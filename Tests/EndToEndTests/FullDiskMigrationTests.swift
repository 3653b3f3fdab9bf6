import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// A migration on a disk that fills up: the database is as before, or as after.
    @Suite struct FullDiskMigrationTests {
        /// BMO_TEST_DISKS=100 tries as many sizes of disks.
        private static let disks = ProcessInfo.processInfo.environment["BMO_TEST_DISKS"].flatMap { Int($0) } ?? 10
        private static let notes = 3000

        private static func config(_ attributes: String) -> String {
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "http://127.0.0.1:9"}}}
            entities:
              Note:
                bridge: api
                key: id
                attributes: {id: integer, \(attributes)}
                rest: {path: /notes, records: $, paging: none}

            """
        }

        @Test(.enabled(if: TemporaryFolder.canMount, "needs the right to mount"))
        func `a migration that runs out of room leaves the database as before or as after`() async throws {
            let folder = try TemporaryFolder()
            try folder.write(Self.config("text: text, code: text"), to: "bmo.yml")
            // There is no server: the tables are made all the same.
            _ = try await bmo(["sync", "-q"], folder.path)
            let database = folder.appending("bmo.sqlite")
            try await sqlite(
                database,
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.notes))
                INSERT INTO Note (id, text, code) SELECT i, printf('%0200d', i), i FROM n;
                PRAGMA wal_checkpoint(TRUNCATE);
                """)
            try folder.write(
                Self.config("title: {type: text, from: text, renamed_from: text}, code: integer"), to: "bmo.yml")
            let before = try await contents(database)
            let size = try #require(
                try FileManager.default.attributesOfItem(atPath: database)[.size] as? Int)
            let clean = folder.appending("clean")
            try copy(folder.path, to: clean)
            let migration = try await bmo(["migrate", "--apply"], clean)
            try #require(migration.exitCode == 0, "\(migration)")
            let after = try await contents("\(clean)/bmo.sqlite")
            try #require(before != after && before.count > Self.notes && after.count > Self.notes)

            var failed = 0
            var done = 0
            for disk in 0..<Self.disks {
                // From hardly more than the database itself to what a backup and both tables take.
                let room = size + 64 * 1024 + size * 5 * disk / max(1, Self.disks - 1)
                let out = folder.appending("disk-\(disk)")
                let run = try await migrate(folder.path, room: room, out)
                let what: Comment = "a disk of \(room) bytes: \(run)"
                let found = try await contents("\(out)/bmo.sqlite")
                if run.exitCode == 0 {
                    done += 1
                    #expect(found == after, what)
                } else {
                    failed += 1
                    #expect(run.signal == 0 && (1...2).contains(run.exitCode), what)
                    #expect(found == before || found == after, what)
                    #expect(run.allOutput.contains("space") || run.allOutput.contains("full"), what)
                    // With room it is done.
                    try folder.write(
                        Self.config("title: {type: text, from: text, renamed_from: text}, code: integer"),
                        to: "disk-\(disk)/bmo.yml")
                    let again = try await bmo(["migrate", "--apply"], out)
                    #expect(again.exitCode == 0, "\(again)")
                    #expect(try await contents("\(out)/bmo.sqlite") == after, what)
                }
                try FileManager.default.removeItem(atPath: out)
            }
            #expect(failed > 0 && done > 0, "\(failed) disks were too small, and \(done) were not")
        }

        /// Migrates a copy of a database on a file system of so many bytes, and brings back what is there then.
        private func migrate(_ folder: String, room: Int, _ out: String) async throws -> ProcessRun {
            let script = """
                mkdir "$3" "$3/disk" && mount -t tmpfs -o size=$2 tmpfs "$3/disk" && cp "$1/bmo.sqlite" "$1/bmo.yml" "$3/disk" || exit 9
                cd "$3/disk" && "$0" migrate --apply
                code=$?
                for file in bmo.sqlite bmo.sqlite-wal bmo.sqlite-journal; do [ ! -e $file ] || cp $file "$3"; done
                exit $code
                """
            return try await ProcessRun.run(
                "unshare", ["--mount", "sh", "-c", script, BuiltCommand.path(), folder, String(room), out])
        }

        private func bmo(_ arguments: [String], _ folder: String) async throws -> ProcessRun {
            try await ProcessRun.run(BuiltCommand.path(), arguments, directory: folder)
        }

        private func copy(_ folder: String, to other: String) throws {
            try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
            for name in ["bmo.sqlite", "bmo.yml"] {
                try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(other)/\(name)")
            }
        }

        private func sqlite(_ database: String, _ sql: String) async throws {
            let run = try await ProcessRun.run("sqlite3", [database, sql])
            try #require(run.exitCode == 0, "\(run)")
        }

        /// The table as SQL, its rows, and whether the file is sound.
        private func contents(_ database: String) async throws -> [String] {
            let run = try await ProcessRun.run(
                "sqlite3",
                [
                    database, "PRAGMA integrity_check", "SELECT sql FROM sqlite_schema WHERE tbl_name = 'Note'",
                    "SELECT *, typeof(code) FROM Note ORDER BY id",
                ])
            try #require(run.exitCode == 0 && run.output.hasPrefix("ok\n"), "\(run)")
            return run.output.components(separatedBy: "\n")
        }
    }
}
