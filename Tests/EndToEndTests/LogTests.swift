import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// The JSON log of `--log json`: what a program that collects logs reads from stderr.
    @Suite struct LogTests {
        private static let secret = "canary-8Kd2Wq5Zx7Lm3Pt"
        private static let levels: Set = ["trace", "debug", "info", "notice", "warning", "error", "critical"]

        private static func workspace() async throws -> RemoteWorkspace<RemoteServer> {
            let workspace = try await RemoteWorkspace("cities.py", environment: ["CANARY": secret])
            try workspace.folder.write(
                """
                version: 1
                bridges:
                  api: {plugin: rest, options: {url: "\(workspace.url)", auth: {type: bearer, token: {env: CANARY}}}}
                entities:
                  City: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: /cities, paging: none}}
                  Street: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /streets, paging: none}}
                """, to: "bmo.yml")
            return workspace
        }

        /// The lines of stderr; all must be objects with a time, a level and a message.
        private static func lines(
            _ run: ProcessRun, sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> [[String: any Sendable]] {
            try run.errorOutput.split(separator: "\n").map { line in
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8))
                let members = try #require(
                    object as? [String: any Sendable], "\(line)", sourceLocation: sourceLocation)
                let time = try #require(members["time"] as? String, sourceLocation: sourceLocation)
                #expect(
                    time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/) != nil, "\(line)",
                    sourceLocation: sourceLocation)
                #expect(
                    Self.levels.contains(members["level"] as? String ?? ""), "\(line)", sourceLocation: sourceLocation)
                #expect((members["message"] as? String)?.isEmpty == false, "\(line)", sourceLocation: sourceLocation)
                return members
            }
        }

        @Test func `the log of a sync has run, entity, page, bridge and request, and not the secret`() async throws {
            let workspace = try await Self.workspace()
            let run = try await workspace.bmo("sync", "--log", "json", "--verbose")
            #expect(run.exitCode == 1, "\(run)")
            let lines = try Self.lines(run)
            func first(_ message: String) throws -> [String: any Sendable] {
                try #require(lines.first { $0["message"] as? String == message }, "\(run)")
            }
            let page = try first("page imported")
            #expect(page["entity"] as? String == "City" && page["bridge"] as? String == "api")
            #expect(page["page"] as? Int == 1 && page["inserted"] as? Int == 20 && page["level"] as? String == "info")
            #expect(try first("sync ended")["run"] as? Int == 1)
            let answer = try first("bridge answered")
            #expect(answer["request"] as? Int ?? 0 > 0 && answer["bridge"] as? String == "api")
            let failure = try #require(lines.first { $0["level"] as? String == "error" })
            #expect(failure["entity"] as? String == "Street" && failure["code"] as? String == "remote", "\(failure)")
            #expect(failure["bridge"] as? String == "api")
            // What people read on stdout stays the same.
            #expect(run.output.contains("City") && !run.output.hasPrefix("{"))
            #expect(!run.allOutput.contains(Self.secret))
        }

        @Test func `the least level decides what is logged`() async throws {
            let workspace = try await Self.workspace()
            let quiet = try await workspace.bmo("sync", "--log", "json", "--log-level", "error")
            #expect(try Self.lines(quiet).map { $0["level"] as? String } == ["error"], "\(quiet)")
            let usual = try Self.lines(try await workspace.bmo("sync", "City", "--log=json"))
            #expect(usual.contains { $0["message"] as? String == "scan ended" })
            #expect(!usual.contains { $0["level"] as? String == "debug" })
            // As text, it is the level of what the host and the bridges log.
            let text = try await workspace.bmo("sync", "City", "--log-level", "debug")
            #expect(text.errorOutput.contains("bridge answered") && !text.errorOutput.contains("{\"time\""), "\(text)")
        }

        @Test(arguments: [
            ["status"], ["plan"], ["check"], ["doctor", "--offline"], ["runs"], ["list", "City"], ["quarantine"],
            ["outbox"], ["plugins"], ["push"], ["version"], ["schema"],
        ])
        func `a command that succeeds writes only JSON to stderr`(words: [String]) async throws {
            let workspace = try await Self.workspace()
            _ = try await workspace.bmo("sync", "City")
            let run = try await workspace.bmo(words + ["--log", "json"])
            #expect(run.exitCode == 0, "\(run)")
            _ = try Self.lines(run)
        }

        private static let failures: [(words: [String], code: Int32)] = [
            (["sync", "Ctiy"], 2), (["list"], 2), (["get", "City", "1", "--colour"], 2), (["stauts"], 2),
            (["status", "--log-level", "loud"], 2), (["check", "-f", "other.yml"], 2), (["check", "-f", "bad.yml"], 2),
            (["check", "-f", ""], 2),
            (["init", "bmo.yml"], 2), (["undo", "7"], 2), (["introspect", "rest", "--openapi", "missing.json"], 1),
        ]

        @Test(arguments: failures)
        func `a failure is a line of the level error`(words: [String], code: Int32) async throws {
            let workspace = try await Self.workspace()
            try workspace.folder.write("version: 1\nbridges: {}\nentites: {}\n", to: "bad.yml")
            let run = try await workspace.bmo(words + ["--log", "json"])
            #expect(run.exitCode == code, "\(run)")
            let lines = try Self.lines(run)
            #expect(lines.contains { $0["level"] as? String == "error" }, "\(run)")
            if words.contains("bad.yml") {
                #expect(lines.contains { ($0["location"] as? String)?.hasPrefix("bad.yml:3:1") == true }, "\(run)")
            }
        }
    }
}
