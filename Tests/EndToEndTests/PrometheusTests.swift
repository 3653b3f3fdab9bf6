import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A real Prometheus that reads `/metrics` of a watch, and the file of `--metrics`.
    @Suite struct PrometheusTests {
        /// A Prometheus that reads two targets every 200 ms.
        private struct Prometheus {
            private let folder: TemporaryFolder
            private let process: RunningProcess
            private let origin: String

            init(page: String, password: String, file: String) throws {
                folder = try TemporaryFolder()
                let port = try FreePort.find()
                origin = "http://127.0.0.1:\(port)"
                func target(_ url: String) -> String { String(url.trimmingPrefix("http://")) }
                try folder.write(
                    """
                    global: {scrape_interval: 200ms, scrape_timeout: 200ms}
                    scrape_configs:
                      - job_name: watch
                        authorization: {credentials: "\(password)"}
                        static_configs: [{targets: ["\(target(page))"]}]
                      - job_name: file
                        metrics_path: /bmo.prom
                        static_configs: [{targets: ["\(target(file))"]}]

                    """, to: "prometheus.yml")
                process = try RunningProcess(
                    "prometheus",
                    [
                        "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                        "--web.listen-address=127.0.0.1:\(port)",
                    ], directory: folder.path)
            }

            func stop() { process.signal(SIGKILL) }

            /// Waits for the value of an expression that has one.
            func value(_ expression: String) async throws -> Double {
                struct Reply: Decodable {
                    struct Data: Decodable { let result: [Sample] }
                    struct Sample: Decodable { let value: [Value] }
                    enum Value: Decodable {
                        case time(Double), text(String)
                        init(from decoder: any Decoder) throws {
                            let container = try decoder.singleValueContainer()
                            if let text = try? container.decode(String.self) {
                                self = .text(text)
                            } else {
                                self = .time(try container.decode(Double.self))
                            }
                        }
                    }
                    let data: Data
                }
                return try await eventually("Prometheus knows \(expression)") {
                    let run = try await ProcessRun.run(
                        "curl", ["-sG", origin + "/api/v1/query", "--data-urlencode", "query=\(expression)"])
                    guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(run.output.utf8)),
                        case .text(let text)? = reply.data.result.first?.value.last
                    else { return nil }
                    return Double(text)
                }
            }
        }

        @Test func `Prometheus reads the metrics of a watch, and those of its file`() async throws {
            let site = try await RemoteWorkspace("throttled.py")
            let files = try await RemoteServer.files()
            try site.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(site.url)"}}}
                entities:
                  City: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: /cities, paging: none}}
                  Street: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /streets, paging: none}}
                """, to: "bmo.yml")
            let password = "correct horse battery"
            let page = try await PageBrowser(
                in: site.folder.path,
                ["--password", "env:PAGE_WORD", "--every", "1h", "--metrics", files.folder.appending("bmo.prom")],
                environment: ["PAGE_WORD": password], command: ["watch", "--serve"], signsIn: false)
            let prometheus = try Prometheus(page: page.origin, password: password, file: files.url)
            defer { prometheus.stop() }
            for job in ["watch", "file"] {
                func value(_ name: String, _ labels: String) async throws -> Double {
                    try await prometheus.value("\(name){job=\"\(job)\",\(labels)} > 0")
                }
                #expect(try await value("bmo_rows", #"entity="City""#) == 1)
                #expect(try await value("bmo_changes_total", #"entity="City",change="inserted""#) == 1)
                #expect(try await value("bmo_requests_total", #"bridge="api",outcome="rate_limited""#) == 1)
                #expect(try await value("bmo_requests_total", #"bridge="api",outcome="succeeded""#) == 1)
                let broken = try await value("bmo_requests_total", #"bridge="api",outcome="broken""#)
                #expect(try await value("bmo_request_duration_seconds_count", #"bridge="api""#) == broken + 2)
                // The remote asked for a second.
                #expect(try await value("bmo_rate_limited_seconds_total", #"bridge="api""#) >= 0.9)
                let quantile = "histogram_quantile(0.5, bmo_request_duration_seconds_bucket{job=\"\(job)\"})"
                #expect(try await prometheus.value(quantile) > 0)
            }
        }
    }
}
