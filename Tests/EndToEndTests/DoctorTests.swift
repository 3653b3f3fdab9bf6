import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo doctor` and `bmo version`: what a user is told about the program and its surroundings.
    @Suite struct DoctorTests: TestWorkspace {
        let site: RemoteWorkspace<RemoteServer>
        var folder: TemporaryFolder { site.folder }

        init() async throws {
            site = try await RemoteWorkspace.site()
            try site.publish(countries: #"[{"code": "CH", "name": "Switzerland"}]"#)
        }

        private struct Finding: Decodable {
            let subject: String
            let state: String
            let message: String
            let remedy: String?
        }

        private func findings(_ run: ProcessRun) throws -> [Finding] {
            try JSONDecoder().decode([Finding].self, from: Data(run.output.utf8))
        }

        @Test func `all is well before and after a first sync`() async throws {
            for rows in ["does not exist yet", ": 1 row"] {
                let run = try await bmo("doctor", "--json")
                #expect(run.exitCode == 0, "\(run)")
                let findings = try findings(run)
                #expect(!findings.contains { $0.state == "error" }, "\(run)")
                let subjects = Set(findings.map(\.subject))
                #expect(
                    subjects.isSuperset(of: [
                        "configuration", "plugins", "database", "server site", "clock", "disk", "permissions",
                        "temporary files",
                    ]))
                #expect(findings.contains { $0.subject == "database" && $0.message.contains(rows) }, "\(run)")
                _ = try await bmo("sync")
            }
        }

        @Test func `a server that has gone is an error with a remedy, and no error offline`() async throws {
            site.stop()
            let run = try await bmo("doctor", "--json")
            #expect(run.exitCode == 1, "\(run)")
            let server = try #require(try findings(run).first { $0.subject == "server site" })
            #expect(server.state == "error")
            #expect(server.remedy?.isEmpty == false)

            let offline = try await bmo("doctor", "--offline")
            #expect(offline.exitCode == 0, "\(offline)")
            #expect(offline.output.contains("skipped  servers: --offline was given"), "\(offline)")
            #expect(offline.output.hasSuffix("0 errors, 0 warnings\n"), "\(offline)")
        }

        @Test func `a fault of the configuration is found with its line, and the rest is still examined`() async throws
        {
            try site.folder.write("version: 1\nbridges: {}\nentites: {}\n", to: "bmo.yml")
            let run = try await bmo("doctor", "--json")
            #expect(run.exitCode == 2, "\(run)")
            let findings = try findings(run)
            #expect(findings.contains { $0.message.contains("bmo.yml:3:1") && $0.state == "error" }, "\(run)")
            #expect(findings.contains { $0.subject == "plugins" && $0.message.contains("rest") }, "\(run)")
            #expect(findings.contains { $0.subject == "servers" && $0.state == "skipped" }, "\(run)")
        }

        @Test func `a database with two names is an error, and no command writes it`() async throws {
            _ = try await bmo("sync", "-q")
            try FileManager.default.linkItem(atPath: database, toPath: database + "-link")
            let run = try await bmo("doctor", "--offline", "--json")
            #expect(run.exitCode == 1, "\(run)")
            let messages = try findings(run).filter { $0.subject == "database" && $0.state == "error" }.map(\.message)
            #expect(messages.count == 1 && messages[0].contains("the file has 2 names (hard links)"), "\(run)")
            let sync = try await bmo("sync", "-q")
            #expect(sync.exitCode == 2 && sync.errorOutput.contains(" -xdev -samefile "), "\(sync)")
        }

        @Test func `the secret that every user may read is a warning, and its text is not printed`() async throws {
            try site.folder.write("very-secret-words\n", to: "token")
            try site.folder.write(
                """
                version: 1
                bridges: {site: {plugin: rest, options: {url: "\(site.url)", auth: {type: bearer, token: {file: token}}}}}
                entities:
                  Country: {bridge: site, key: code, attributes: {code: text}, rest: {path: /countries.json}}
                """, to: "bmo.yml")
            let token = site.folder.appending("token")
            for (mode, state) in [(0o644, "warning"), (0o600, "ok")] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: token)
                let run = try await bmo("doctor", "--json")
                #expect(run.exitCode == 0, "\(run)")
                #expect(try findings(run).first { $0.subject == "permissions" }?.state == state, "\(run)")
                #expect(!run.output.contains("very-secret-words"))
            }
        }

        @Test(
            arguments: [
                ("waiting", 5, 0), ("syncing", 5, 0), ("failing", 5, 1), ("stopped", 5, 1), ("waiting", 100, 1),
                ("waiting", -60, 0), ("waiting", -100_000, 1), ("sleeping", 5, 1),
            ] as [(state: String, secondsAgo: Double, exitCode: Int32)])
        func `a health file is judged by its state and its age`(
            state: String, secondsAgo: Double, exitCode: Int32
        ) async throws {
            let written = Date(timeIntervalSinceNow: -secondsAgo).formatted(
                .iso8601.year().month().day().time(includingFractionalSeconds: true))
            try site.folder.write(
                #"{"state":"\#(state)","written":"\#(written)","error":"a reason"}"#, to: "health.json")
            let run = try await bmo("doctor", "--health", "health.json")
            #expect(run.exitCode == exitCode, "\(run)")
            #expect(run.allOutput.contains("a reason") == (exitCode == 0 || state == "failing"), "\(run)")
        }

        @Test func `a health file without a real time is an error`() async throws {
            try site.folder.write(#"{"state":"waiting","written":"zzz"}"#, to: "health.json")
            #expect(try await bmo("doctor", "--health", "health.json").exitCode == 1)
        }

        @Test func `no health file, and a file of another kind, are errors`() async throws {
            #expect(try await bmo("doctor", "--health", "none.json").exitCode == 1)
            #expect(try await bmo("doctor", "--health", "bmo.yml").exitCode == 1)
        }

        @Test func `a low limit of open files is raised`() async throws {
            let run = try await ProcessRun.run(
                "bash", ["-c", "ulimit -S -n 12; exec \"$0\" sync Country -q", BuiltCommand.path()],
                directory: folder.path)
            #expect(run.exitCode == 0, "\(run)")
        }

        @Test func `the version lists the plugins and libraries on request`() async throws {
            let plain = try await bmo("version")
            #expect(plain.output.wholeMatch(of: /bmo [0-9]+\.[0-9]+\.[0-9]+\n/) != nil, "\(plain)")
            let verbose = try await bmo("version", "--verbose")
            #expect(verbose.exitCode == 0, "\(verbose)")
            for word in ["rest", "soap", "SQLite", "OpenSSL", "libcurl", "libswiftCore.so", "ABI"] {
                #expect(verbose.output.contains(word), "\(verbose)")
            }
            let json = try await bmo("version", "--json")
            let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect((object?["libraries"] as? [String: String])?["SQLite"]?.hasPrefix("3.") == true, "\(json)")
            #expect((object?["plugins"] as? [[String: Any]])?.contains { $0["name"] as? String == "rest" } == true)
        }
    }
}
