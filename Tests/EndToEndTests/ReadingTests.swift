import Foundation
import Glibc
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Commands that read: they change nothing, and work where nothing can be changed.
    @Suite struct ReadingTests {
        private static let commands = [
            ["list", "Note"], ["get", "Note", "1"], ["status"], ["why", "Note", "1"], ["diff"], ["outbox"],
            ["conflicts"], ["push", "--dry-run"], ["plan"], ["runs"], ["quarantine"], ["migrate"],
        ]

        private func filled() async throws -> RemoteWorkspace<NoteServer> {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            return place
        }

        @Test func `a command that reads does not change the tables`() async throws {
            let place = try await filled()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacing(
                    "      text: text\n", with: "      words: {type: text, from: text, renamed_from: text}\n"
                )
                .replacing("match: [text]", with: "match: [words]"), to: "bmo.yml")
            let before = try place.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
            for arguments in Self.commands {
                let run = try await place.start(arguments).finish(within: .seconds(60))
                guard !["plan", "runs", "quarantine", "migrate"].contains(arguments[0]) else {
                    #expect(run.exitCode == 0, "\(run)")
                    continue
                }
                #expect(run.exitCode == 2 && run.output.isEmpty, "\(run)")
                #expect(
                    run.errorOutput
                        == "bmo: error: \(place.database): the database does not have the column Note.words "
                        + "yet (it is text there); `bmo sync` or `bmo migrate --apply` updates the database\n", "\(run)"
                )
            }
            #expect(try place.rows("SELECT name, sql FROM sqlite_schema ORDER BY name") == before)
            let migration = try await place.bmo("migrate", "--apply")
            #expect(migration.exitCode == 0, "\(migration)")
            let list = try await place.bmo("list", "Note", "--json")
            #expect(list.output.contains(#""words":"a""#), "\(list)")
        }

        @Test func `an edit changes the tables only with the lock of the file`() async throws {
            let place = try await filled()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacing("      text: text\n", with: "      text: text\n      more: text\n"), to: "bmo.yml")
            let before = try place.rows("SELECT name, sql FROM sqlite_schema ORDER BY name")
            let holder = try RunningProcess(
                "flock", ["-F", place.database + "-lock", "sh", "-c", "echo held; exec sleep 60"])
            try await eventually("the lock is held") { holder.output.contains("held") }
            for arguments in [["update", "Note", "1", "--set", "text=b"], ["push"]] {
                let run = try await place.start(arguments).finish(within: .seconds(60))
                #expect(run.exitCode == 1 && run.errorOutput.contains("another process"), "\(run)")
            }
            #expect(try place.rows("SELECT name, sql FROM sqlite_schema ORDER BY name") == before)
            holder.signal(SIGKILL)
            _ = try await holder.finish(within: .seconds(60))
            try await place.expect("update", "Note", "1", "--set", "more=b")
            #expect(try place.value("SELECT more FROM Note") == "b")
        }

        @Test func `a plan leaves a file of another tool as it is`() async throws {
            let place = try RemoteWorkspace.notes()
            try SQLiteFile(place.database, creates: true).rows("CREATE TABLE mine (a)")
            let before = try Data(contentsOf: URL(filePath: place.database))
            let plan = try await place.bmo("plan")
            #expect(plan.exitCode == 0 && plan.output.contains("GET "), "\(plan)")
            try SQLiteFile(place.database).rows("DROP TABLE mine")
            try SQLiteFile(place.database).rows("CREATE TABLE Note (id INTEGER PRIMARY KEY, body TEXT)")
            let theirs = try Data(contentsOf: URL(filePath: place.database))
            #expect(theirs.count >= before.count)
            for arguments in [
                ["plan"], ["sync"], ["list", "Note"], ["migrate", "--apply"], ["create", "Note", "--set", "text=a"],
            ] {
                let run = try await place.start(arguments).finish(within: .seconds(60))
                #expect(run.exitCode == 2, "\(run)")
                #expect(run.errorOutput.contains("the file has the table Note that bmo did not create"), "\(run)")
            }
            #expect(try Data(contentsOf: URL(filePath: place.database)) == theirs)
        }

        @Test func `a database that may only be read can be read`() async throws {
            let place = try await filled()
            let command = try BuiltCommand.path()
            // Root may write anywhere.
            let user = geteuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["env"]
            chmod(place.database, 0o444)
            chmod(place.folder.path, 0o555)
            defer { chmod(place.folder.path, 0o755) }
            let reach = try await ProcessRun.run(
                "/usr/bin/env", user + ["test", "-x", command, "-a", "-r", place.database])
            if reach.exitCode != 0 { try Test.cancel("another user cannot reach the command") }
            for arguments in Self.commands {
                let run = try await ProcessRun.run(
                    "/usr/bin/env", user + [command] + arguments, directory: place.folder.path)
                #expect(run.exitCode == 0, "\(run)")
            }
            // What was committed last is in the WAL, which is left behind by a process that was killed.
            chmod(place.folder.path, 0o755)
            try place.folder.write("x", to: "bmo.sqlite-wal")
            chmod(place.folder.path, 0o555)
            let run = try await ProcessRun.run(
                "/usr/bin/env", user + [command, "list", "Note"], directory: place.folder.path)
            #expect(run.exitCode == 2 && run.errorOutput.contains("copy the file and"), "\(run)")
        }
    }
}
