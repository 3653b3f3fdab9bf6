import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What the command line takes, and what it looks like on a terminal.
    @Suite struct CommandLineTests: TestWorkspace {
        let site: RemoteWorkspace<RemoteServer>
        var folder: TemporaryFolder { site.folder }

        init() async throws {
            site = try await RemoteWorkspace.site()
        }

        /// A config with users, and as many entities as are named, all of which come from one file.
        private func write(_ users: String, relationship: String = "", entities: [String] = []) throws {
            try site.publish(users, as: "users.json")
            let more = entities.map {
                "  \($0): {bridge: api, key: id, attributes: {id: integer}, rest: {path: /users.json, paging: none}}\n"
            }
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(site.url)"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text}
                    \(relationship)
                    rest: {path: /users.json, paging: none}
                \(more.joined())
                """, to: "other.yml")
        }

        /// Runs a command on a terminal of a size, as script(1) makes one.
        private func onTerminal(_ command: String, columns: Int = 80, environment: String = "") async throws -> String {
            let line = try "stty cols \(columns) rows 24; \(environment) '\(BuiltCommand.path())' \(command)"
            let run = try await ProcessRun.run(
                "script", ["-qec", line, "/dev/null"], environment: ["TERM": "xterm", "NO_COLOR": ""],
                directory: folder.path)
            return run.output.replacing("\r\n", with: "\n")
        }

        @Test func `the configuration's file may be named anywhere`() async throws {
            try write(#"[{"id": 1, "name": "a"}]"#)
            #expect(try await bmo("-f", "other.yml", "sync").exitCode == 0)
            for arguments in [
                ["-f", "other.yml", "status"], ["status", "--file=other.yml"],
                ["--file", "other.yml", "outbox", "retry"],
                ["outbox", "-f", "other.yml", "retry"], ["outbox", "retry", "-f", "other.yml"],
                ["quarantine", "-f", "other.yml", "retry"], ["outbox", "-f", "other.yml"],
                ["outbox", "-f", "other.yml", "User"],
                ["plugins", "-f", "other.yml", "info", "rest"], ["plugins", "-f", "other.yml", "rest"],
            ] {
                let run = try await bmo(arguments)
                #expect(run.exitCode == 0, "\(arguments) \(run)")
            }
            #expect(try await bmo("init", "-f", "new.yml").exitCode == 0)
            #expect(FileManager.default.fileExists(atPath: folder.appending("new.yml")))
        }

        @Test(arguments: [
            (["stauts"], #"there is no command "bmo stauts"; did you mean "status"?"#),
            (["help", "stauts"], #"did you mean "status"?"#),
            (["fixtures", "rn"], #"there is no command "bmo fixtures rn"; did you mean "run"?"#),
            (["plugins", "instal", "x.so"], #"there is no command "bmo plugins instal"; did you mean "install"?"#),
            (
                ["-f", "other.yml", "outbox", "rerty", "7"],
                #"there is no command "bmo outbox rerty"; did you mean "retry"?"#
            ),
            (["outbox", "rerty", "-f", "other.yml"], "or did you mean `bmo outbox retry`?"),
            (["nonsense"], #"there is no command "bmo nonsense"; commands: "#),
        ])
        func `an unknown command is reported with the nearest`(arguments: [String], words: String) async throws {
            try write("[]")
            _ = try await bmo("sync", "-f", "other.yml")
            let run = try await bmo(arguments)
            #expect(run.exitCode == 2 && run.errorOutput.contains(words), "\(run)")
        }

        @Test(arguments: [
            (["init", "--rest", "http://h"], "--rest, --soap and --smb are for --demo"),
            (["init", "-o", "."], ". is a folder; name a file in it"),
            (["introspect", "rest", "--sample", "http://h", "-o", "."], ". is a folder; name a file in it"),
            (["swap", "User", "--to", "api", "--json"], "--json is for --dry-run"),
        ])
        func `what would have no effect is refused`(arguments: [String], words: String) async throws {
            let run = try await bmo(arguments)
            #expect(run.exitCode == 2 && run.errorOutput.contains(words) && run.output.isEmpty, "\(run)")
        }

        @Test func `without a database the exit code is that of a wrong use`() async throws {
            try write("[]")
            for command in ["list User", "status", "outbox", "runs", "undo 1"] {
                let arguments = command.split(separator: " ").map(String.init) + ["-f", "other.yml"]
                let run = try await bmo(arguments)
                #expect(run.exitCode == 2 && run.errorOutput.contains("`bmo sync` creates it"), "\(command) \(run)")
            }
        }

        @Test(arguments: [
            "bearer:hunter2", "basic:me:hunter2", "header:X-Key:hunter2", "query:key:hunter2", "x:hunter2",
        ])
        func `a secret in place of a variable's name is not repeated`(auth: String) async throws {
            let run = try await bmo("introspect", "rest", "--sample", "\(site.url)/users.json", "--auth", auth)
            #expect(
                run.exitCode == 2 && !run.errorOutput.contains("hunter2") && !run.output.contains("hunter2"), "\(run)")
            #expect(run.errorOutput.contains("environment variable"), "\(run)")
        }

        @Test func `a table fits the terminal, and its trouble is coloured there alone`() async throws {
            let long = String(repeating: "long name ", count: 12)
            try write(#"[{"id": 1, "name": "\#(long)"}, {"id": "x", "name": "bad"}]"#)
            let synced = try await onTerminal("sync -f other.yml")
            let table = synced.split(separator: "\n").map { $0.replacing(/\u{1B}\[[0-9;]*[A-Za-z]/, with: "") }
            #expect(
                table.nonEmptyAllSatisfy { $0.count <= 80 || $0.contains("bmo: ") || $0.hasPrefix("  User (bridge") },
                "\(synced)"
            )
            #expect(table.contains { $0.contains("quarantined") && $0.contains("outcome") && $0.contains("records") })
            #expect(synced.contains("\u{1B}[33m1\u{1B}[0m"), "the count of quarantined is yellow: \(synced)")
            let plain = try await onTerminal("status -f other.yml", environment: "NO_COLOR=1")
            #expect(!plain.contains("\u{1B}["), "\(plain)")
            let narrow = try await onTerminal("list User -f other.yml", columns: 40)
            #expect(
                narrow.split(separator: "\n").nonEmptyAllSatisfy { $0.count <= 40 } && narrow.contains("…"), "\(narrow)"
            )
            let piped = try await bmo("status", "-f", "other.yml")
            #expect(!piped.output.contains("\u{1B}["))
        }

        @Test func `more entities than the terminal has lines are drawn in place`() async throws {
            try write("[]", entities: (1...40).map { "Entity\($0)" })
            let text = try await onTerminal("sync -f other.yml")
            // Moving up further than the screen goes would leave lines behind.
            let moves = text.matches(of: /\u{1B}\[([0-9]+)A/).compactMap { Int($0.1) }
            #expect(moves.nonEmptyAllSatisfy { $0 <= 23 }, "\(moves)")
        }
    }
}
