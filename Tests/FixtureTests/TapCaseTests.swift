import BridgeConformance
import BridgeHost
import Foundation
import TestSupport
import SQLiteStore
import Testing

/// Singer taps in cases, and in the conformance kit.
@Suite struct TapCaseTests: TestWorkspace {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.copyItem(
            atPath: PackageFolder.path + "/Fixtures/remote/tap.py", toPath: folder.appending("tap.py"))
        try folder.write(
            #"{"teams": [{"id": 1, "name": "North"}, {"id": 2, "name": "s3cr3t/of&us"}], "people": []}"#,
            to: "rows.json")
    }

    private func writeConfig(_ command: String = "./tap.py", more: String = "") throws {
        try folder.write(
            """
            version: 1
            bridges:
              tap:
                isolation: external
                command: [\(command)]
                tap_config: {file: rows.json, token: {env: TAP_TOKEN}}
                silence: 20
            entities:
              Team: {bridge: tap, key: id, attributes: {id: integer, name: text}, singer: {stream: teams\(more)}}

            """, to: "bmo.yml")
    }

    private var secret: [String: String] { ["TAP_TOKEN": "s3cr3t/of&us"] }

    @Test func `a tap is recorded without its secret, and replayed without the tap`() async throws {
        try writeConfig()
        let run = try await bmo("fixtures", "record", "./teams", environment: secret)
        #expect(run.exitCode == 0 && run.output.contains("Team: finished, 1 page, 2 inserted"), "\(run)")
        let folder = self.folder.appending("teams")
        var all = ""
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            all += (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
        }
        #expect(all.contains("RUN tap.py teams\n") && all.contains("RUN tap.py --discover\n"), "\(all)")
        #expect(!all.contains("s3cr3t"), "\(all)")
        try FileManager.default.removeItem(atPath: self.folder.appending("tap.py"))
        try FileManager.default.removeItem(atPath: self.folder.appending("rows.json"))
        let again = try await bmo("fixtures", "run", "./teams", "--strict")
        #expect(again.exitCode == 0, "\(again)")
        // What the configuration says of the stream is part of the request.
        try edit(folder + "/bmo.yml", "stream: teams", "stream: teams, replication: incremental")
        let changed = try await bmo("fixtures", "run", "./teams")
        #expect(changed.exitCode == 1, "\(changed)")
        #expect(
            changed.output.contains(
                "unexpected: RUN tap.py teams was not recorded; the nearest is 002-RUN-tap.py-teams.http"),
            "\(changed)")
    }

    @Test(arguments: [
        ("timeout", "timeout: the tap `tap.py` has written neither records nor log lines for 20 s"),
        ("reset", "remote: the tap `tap.py` was ended by killed (signal 9)"),
        ("truncated", "remote: the tap `tap.py` was ended by killed (signal 9)"),
        ("{slow: 60}", "timeout: the tap `tap.py` has written neither"),
        ("{status: exit 2, headers: {Words: no such account}}", "with exit code 2: no such account"),
    ])
    func `faults happen to a tap that is replayed`(then: String, words: String) async throws {
        let folder = try copy("singer-incremental")
        try "- on: Team page 1\n  step: 1\n  then: \(then)\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        try edit(folder + "/bmo.yml", "    tap_config", "    silence: 20\n    tap_config")
        _ = try await ShippedCases.run(folder, updates: true)
        let text = try String(contentsOfFile: folder + "/expected.txt", encoding: .utf8)
        #expect(text.contains("Team failed: ") && text.contains(words), "\(text)")
    }

    @Test func `a tap that fails is recorded with its last words`() async throws {
        try folder.write("#!/bin/sh\necho 'no such account' >&2\nexit 3\n", to: "tap.sh")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: folder.appending("tap.sh"))
        try writeConfig("./tap.sh")
        let run = try await bmo("fixtures", "record", "./fails", environment: secret)
        #expect(run.exitCode == 0, "\(run)")
        let text = try String(
            contentsOfFile: folder.appending("fails/exchanges/001-RUN-tap.sh-discover.http"), encoding: .utf8)
        #expect(text.contains("=== exit 3\nWords: no such account\n"), "\(text)")
    }

    @Test func `a tap passes every check of the strictest level that applies to it`() async throws {
        setenv("TAP_TOKEN", "s3cr3t/of&us", 1)
        try writeConfig()
        try self.folder.write(#"{"teams": [{"id": 1, "name": "North"}, {"id": 2, "name": "South"}]}"#, to: "rows.json")
        let command = try BuiltCommand.path()
        let folder = URL(filePath: command).deletingLastPathComponent().path
        let run = try await ConformanceRun(
            ConformanceSettings(config: self.folder.appending("bmo.yml"), level: .strict), stores: SQLiteStores(),
            executable: command,
            searchPaths: [SearchPath(folder)])
        let report = await run.run()
        #expect(report.passed, "\(report.text)")
        #expect(report.results.count { $0.outcome == .passed } >= 20, "\(report.text)")
    }
}
