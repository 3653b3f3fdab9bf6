import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// The file that `--metrics` writes, as promtool and another sync read it.
    @Suite struct MetricsTests {
        private static let configuration = """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "%@"}}}
            entities:
              City:
                bridge: api
                key: id
                attributes: {id: integer, name: text}
                writable: true
                rest: {path: /cities, paging: none, write: {update: {method: PATCH, path: "/cities/{key}"}}}
              Street: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /streets, paging: none}}
            """

        private static func server() async throws -> RemoteWorkspace<RemoteServer> {
            let server = try await RemoteWorkspace("cities.py")
            try server.folder.write(
                configuration.replacing("%@", with: server.url), to: "bmo.yml")
            return server
        }

        private static func samples(_ server: RemoteWorkspace<RemoteServer>) throws -> [String: String] {
            let text = try String(contentsOfFile: server.folder.appending("bmo.prom"), encoding: .utf8)
            let pairs = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
                line.lastIndex(of: " ").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
            }
            return Dictionary(pairs, uniquingKeysWith: { "\($0) and \($1)" })
        }

        @Test func `promtool accepts the file of a sync and of a push`() async throws {
            let server = try await Self.server()
            #expect(try await server.bmo("sync", "--metrics", "bmo.prom").exitCode == 1)
            _ = try await server.bmo("update", "City", "1", "--set", "name=x")
            #expect(try await server.bmo("push", "--metrics", "bmo.prom").exitCode == 1)
            let check = try await ProcessRun.run(
                "sh", ["-c", "promtool check metrics < '\(server.folder.appending("bmo.prom"))'"])
            #expect(check.exitCode == 0 && check.output.isEmpty && check.errorOutput.isEmpty, "\(check)")
            let samples = try Self.samples(server)
            #expect(samples[#"bmo_rows{entity="City"}"#] == "20")
            #expect(samples[#"bmo_changes_total{entity="City",change="inserted"}"#] == "20")
            #expect(samples[#"bmo_sync_failures_total{entity="Street",code="remote"}"#] == "1")
            #expect(samples[#"bmo_sync_last_success_timestamp_seconds{entity="Street"}"#] == nil)
            let success = try #require(samples[#"bmo_sync_last_success_timestamp_seconds{entity="City"}"#])
            #expect(abs((Double(success) ?? 0) - Date().timeIntervalSince1970) < 300)
            // The server does not answer PATCH.
            #expect(samples[#"bmo_outbox_entries{state="refused"}"#] == "1", "\(samples)")
            #expect(samples[#"bmo_pushed_edits_total{outcome="refused"}"#] == "1")
            #expect(samples[#"bmo_requests_total{bridge="api",outcome="succeeded"}"#] == "1")
            // The push, and the tries of the streets.
            #expect((Int(samples[#"bmo_requests_total{bridge="api",outcome="broken"}"#] ?? "") ?? 0) > 1, "\(samples)")
            #expect(samples[#"bmo_request_duration_seconds_bucket{bridge="api",le="+Inf"}"#] != nil)
        }

        @Test func `the alerts in docs fire when they should`() async throws {
            let rules = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Fixtures/prometheus/alerts.test.yml").standardized.path
            let run = try await ProcessRun.run("promtool", ["test", "rules", rules])
            #expect(run.exitCode == 0 && run.output.contains("SUCCESS"), "\(run)")
        }

        @Test func `counters grow from one process to the next, and a held deletion shows`() async throws {
            let server = try await Self.server()
            _ = try await server.bmo("sync", "City", "--metrics", "bmo.prom")
            let first = try Self.samples(server)
            _ = try await server.bmo("sync", "City", "--metrics", "bmo.prom")
            try server.folder.write("", to: "empty")
            _ = try await server.bmo("sync", "City", "--metrics", "bmo.prom")
            let samples = try Self.samples(server)
            #expect(first[#"bmo_brake_held{entity="City"}"#] == "0")
            #expect(samples[#"bmo_brake_held{entity="City"}"#] == "1")
            #expect(samples[#"bmo_records_total{entity="City"}"#] == "40")
            #expect(samples[#"bmo_sync_failures_total{entity="City",code="brake"}"#] == "1")
            #expect(samples[#"bmo_rows{entity="City"}"#] == "20")

            // An entity that the configuration loses leaves the file.
            let configuration = try String(contentsOfFile: server.folder.appending("bmo.yml"), encoding: .utf8)
            try server.folder.write(configuration.replacing("City", with: "Town"), to: "bmo.yml")
            _ = try await server.bmo("sync", "Street", "--metrics", "bmo.prom")
            #expect(try Self.samples(server).keys.filter { $0.contains("City") }.isEmpty)
        }

        @Test func `a sync that cannot open the database counts as failed, without an entity`() async throws {
            let server = try await Self.server()
            try server.folder.write(String(repeating: "not a database\n", count: 100), to: "bmo.sqlite")
            for count in ["1", "2"] {
                let run = try await server.bmo("sync", "City", "--metrics", "bmo.prom")
                #expect(run.exitCode == 2, "\(run)")
                #expect(try Self.samples(server)[#"bmo_sync_failures_total{code="database"}"#] == count)
            }
            try FileManager.default.removeItem(atPath: server.folder.appending("bmo.sqlite"))
            try await server.expectSuccess("sync", "City", "--metrics", "bmo.prom")
            let samples = try Self.samples(server)
            #expect(samples[#"bmo_sync_failures_total{code="database"}"#] == "2")
            #expect(samples[#"bmo_rows{entity="City"}"#] == "20")
        }

        @Test func `a path that cannot be written is refused before the sync`() async throws {
            let server = try await Self.server()
            for (path, words) in [
                ("missing/bmo.prom", "No such file or directory"), (".", "is not a regular file"),
            ] {
                let run = try await server.bmo("sync", "--metrics", path)
                #expect(run.exitCode == 2 && run.errorOutput.contains(words), "\(run)")
            }
            let run = try await server.bmo("sync", "--dry-run", "--metrics", "bmo.prom")
            #expect(run.exitCode == 2 && run.errorOutput.contains("leave out one"), "\(run)")
            #expect(!FileManager.default.fileExists(atPath: server.folder.appending("bmo.sqlite")))
        }
    }
}
