import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Metrics and traces that are sent to a collector of OpenTelemetry, by the variables OTEL_*.
    @Suite struct CollectorTests {
        private static let secret = "otlp-key-canary-77"

        /// A collector that accepts what opentelemetry-proto accepts.
        private func collector(_ arguments: String...) async throws -> RemoteServer {
            try await RemoteServer([TestPython.path, "-u", "-B", RemoteServer.script("collector.py")] + arguments)
        }

        private static func workspace(_ endpoint: String) async throws -> RemoteWorkspace<RemoteServer> {
            let workspace = try await RemoteWorkspace(
                "cities.py",
                environment: [
                    "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_HEADERS": "x-api-key=\(secret)",
                    "OTEL_SERVICE_NAME": "cities", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test%20bed",
                ])
            try workspace.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(workspace.url)"}}}
                entities:
                  City: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: /cities, paging: none}}
                """, to: "bmo.yml")
            return workspace
        }

        private struct Received: Decodable {
            let path: String
            let headers: [String: String]
            let fault: String?
        }

        private static func received(_ collector: RemoteServer) throws -> (requests: [Received], text: String) {
            let path = collector.folder.appending("requests")
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            let requests = try text.split(separator: "\n").map {
                try JSONDecoder().decode(Received.self, from: Data($0.utf8))
            }
            return (requests, text)
        }

        @Test func `a sync and a push send what the collector accepts`() async throws {
            let collector = try await collector()
            let workspace = try await Self.workspace(collector.url)
            for words in [["sync"], ["push"]] {
                let run = try await workspace.bmo(words)
                #expect(run.exitCode == 0 && run.errorOutput.contains("warning") == false, "\(run)")
                #expect(!run.allOutput.contains(Self.secret))
            }
            let (requests, text) = try Self.received(collector)
            // The push had nothing to send.
            #expect(requests.map(\.path).sorted() == ["/v1/metrics", "/v1/metrics", "/v1/traces", "/v1/traces"])
            for request in requests {
                #expect(request.fault == nil, "\(request)")
                #expect(request.headers["x-api-key"] == Self.secret)
                #expect(request.headers["Content-Type"] == "application/json")
            }
            for part in [
                #"{"key": "service.name", "value": {"stringValue": "cities"}}"#,
                #"{"key": "deployment.environment", "value": {"stringValue": "test bed"}}"#,
                #""name": "bmo.sync""#, #""name": "bmo.fetch""#, #""name": "bmo.push""#,
                #"{"key": "bmo.location", "value": {"stringValue": "\#(workspace.url)/cities"}}"#,
                #"{"key": "bmo.records.inserted", "value": {"intValue": "20"}}"#,
                #""name": "bmo_rows""#, #""name": "bmo_changes_total""#, #"{"stringValue": "inserted"}"#,
                #""name": "bmo_request_duration_seconds", "description""#,
            ] { #expect(text.contains(part), "\(part)") }
        }

        @Test func `a dead, a refusing and a silent collector neither fail nor delay a sync`() async throws {
            let silent = try await collector("silent")
            for (endpoint, words) in [
                ("http://127.0.0.1:1", "no connection to 127.0.0.1, port 1"), (silent.url, "no reply within 1 s"),
                (silent.url + "/elsewhere", "no reply within 1 s"), ("https://127.0.0.1:1", "without TLS"),
            ] {
                let workspace = try await Self.workspace(endpoint)
                let run = try await workspace.bmo("sync")
                #expect(run.exitCode == 0 && run.output.contains("City"), "\(run)")
                #expect(run.errorOutput.contains("bmo: warning: ") && run.errorOutput.contains(words), "\(run)")
                #expect(run.errorOutput.ranges(of: "warning").count == 2 && !run.allOutput.contains(Self.secret))
                for signal in ["metrics", "traces"] { #expect(run.errorOutput.contains(signal), "\(run)") }
                #expect(try await workspace.query("SELECT count(*) FROM City") == "20")
                // The report of the sync says how long it took, without the wait at the end.
                let json = try await workspace.bmo("sync", "--json")
                let seconds = try #require(json.output.matches(of: /"seconds":([0-9.]+)/).last).output.1
                #expect((Double(seconds) ?? 99) < 0.9, "\(json)")
            }
        }

        @Test func `the trace of a sync that fails says why, and a collector may take traces alone`() async throws {
            let collector = try await collector()
            let workspace = try await Self.workspace(collector.url + "/elsewhere")
            let config = try String(contentsOfFile: workspace.folder.appending("bmo.yml"), encoding: .utf8)
            try workspace.folder.write(
                config.replacing("paging: none", with: "paging: none, records: $.nowhere"), to: "bmo.yml")
            let run = try await workspace.bmo(
                ["sync"],
                environment: [
                    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.url + "/v1/traces", "OTEL_METRICS_EXPORTER": "none",
                ])
            #expect(run.exitCode == 1 && !run.errorOutput.contains("warning"), "\(run)")
            let (requests, text) = try Self.received(collector)
            #expect(requests.map(\.path) == ["/v1/traces"] && requests.map(\.fault) == [nil], "\(requests)")
            #expect(text.contains(#"{"key": "error.type", "value": {"stringValue": ""#), "\(text)")
            #expect(text.contains(#""status": {"code": 2, "message": "#), "\(text)")
        }

        @Test func `nothing is sent by a dry run, nor when the variables say so`() async throws {
            let collector = try await collector()
            let workspace = try await Self.workspace(collector.url)
            _ = try await workspace.bmo("sync", "--dry-run")
            _ = try await workspace.bmo(["sync"], environment: ["OTEL_SDK_DISABLED": "true"])
            _ = try await workspace.bmo(
                ["sync"], environment: ["OTEL_METRICS_EXPORTER": "none", "OTEL_TRACES_EXPORTER": "none"])
            let other = try await workspace.bmo(["sync"], environment: ["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"])
            #expect(other.exitCode == 0 && other.errorOutput.contains("only http/json"), "\(other)")
            #expect(try Self.received(collector).requests.isEmpty)
        }
    }
}
