import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// Secrets of `{env: NAME}`, after bmo has read them.
    @Suite struct EnvironmentSecretTests {
        static let canary = "c4nary-of-the-environment"

        /// What proc(5) shows of a process's environment; BMO_TRACEABLE=1 lets this process read it.
        private func environment(of pid: Int32) -> Data? {
            try? Data(contentsOf: URL(filePath: "/proc/\(pid)/environ"))
        }

        /// All that descends from a process.
        private func descendants(of pid: Int32) -> [Int32] {
            let all = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
            let children = all.filter { child in
                guard let stat = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8),
                    let end = stat.lastIndex(of: ")")
                else { return false }
                return stat[end...].split(separator: " ").dropFirst(2).first.flatMap { Int32($0) } == pid
            }
            return children + children.flatMap(descendants)
        }

        @Test func `neither bmo nor a bridge's process shows them, and each further sync has them`() async throws {
            let server = try await RemoteWorkspace("bearer-token.py", Self.canary)
            let folder = server.folder
            func entity(_ name: String, _ bridge: String) -> String {
                """
                  \(name):
                    bridge: \(bridge)
                    key: id
                    attributes: {id: integer, text: text}
                    rest: {path: /\(bridge), records: $, paging: none}
                """
            }
            try folder.write(
                """
                version: 1
                bridges:
                  here: {plugin: rest, options: {url: "\(server.url)", auth: {type: bearer, token: {env: HERE_TOKEN}}}}
                  apart: {plugin: rest, isolation: child_process, options: {url: "\(server.url)", auth: {type: bearer, token: {env: APART_TOKEN}}}}
                entities:
                \(entity("Here", "here"))
                \(entity("Apart", "apart"))
                """, to: "bmo.yml")
            let variables = [
                "HERE_TOKEN": Self.canary, "APART_TOKEN": Self.canary, "OTHER": "still-there", "BMO_TRACEABLE": "1",
            ]
            let watch = try RunningProcess(
                BuiltCommand.path(), ["watch", "--every", "1s", "--health", "health.json"],
                environment: variables, directory: folder.path)
            defer { watch.signal(SIGKILL) }
            _ = try await eventually("it has synced three times") {
                let text = (try? String(contentsOfFile: folder.appending("health.json"), encoding: .utf8)) ?? ""
                return [#""rounds":0"#, #""rounds":1,"#, #""rounds":2,"#].contains { text.contains($0) } || text.isEmpty
                    ? nil : true
            }
            let health = try String(contentsOfFile: folder.appending("health.json"), encoding: .utf8)
            #expect(
                health.contains(#""outcome":"finished""#) && health.contains(#""failures_in_a_row":0"#), "\(health)")
            let own = try #require(environment(of: watch.pid))
            #expect(own.range(of: Data("OTHER=still-there".utf8)) != nil, "it can be read")
            #expect(own.range(of: Data(Self.canary.utf8)) == nil)
            let seen = try await eventually("a bridge's process", every: .milliseconds(20)) {
                let all = descendants(of: watch.pid).compactMap(environment).filter {
                    $0.range(of: Data("BMO_BRIDGE_SERVE".utf8)) != nil
                }
                return all.isEmpty ? nil : all
            }
            #expect(seen.nonEmptyAllSatisfy { $0.range(of: Data(Self.canary.utf8)) == nil })
            kill(watch.pid, SIGTERM)
            let ended = try await watch.finish(within: .seconds(20))
            #expect(ended.exitCode == 0 && ended.errorOutput.isEmpty, "\(ended)")
        }
    }
}
