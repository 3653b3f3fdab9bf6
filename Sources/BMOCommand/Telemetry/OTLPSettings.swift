internal import BMO
internal import Foundation
internal import WebServer

/// Where metrics or traces are sent, by the environment of OpenTelemetry.
///
/// Source: OpenTelemetry specification, "OpenTelemetry Protocol Exporter" and "SDK environment variables".
struct OTLPSettings {
    /// Why the environment cannot be followed; never contains a value of a header field.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What is sent.
    enum Signal: String {
        case metrics, traces

        /// The signal's part of the variables' names.
        fileprivate var word: String { rawValue.uppercased() }
    }

    let signal: Signal
    let target: WebClient.Target
    /// The fields of each request; they may hold secrets.
    let headers: [(name: String, value: String)]
    let timeout: Duration
    let resource: [(name: String, value: String)]

    /// The variables that may hold secrets.
    static let secretVariables: Set = [
        "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    ]

    /// Reads the variables; nil if they do not ask for the signal.
    init?(_ signal: Signal, _ environment: [String: String]) throws(Failure) {
        self.signal = signal
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        func setting(_ name: String) -> String? {
            variable("OTEL_EXPORTER_OTLP_\(signal.word)_\(name)") ?? variable("OTEL_EXPORTER_OTLP_\(name)")
        }
        let own = variable("OTEL_EXPORTER_OTLP_\(signal.word)_ENDPOINT")
        guard let endpoint = own ?? variable("OTEL_EXPORTER_OTLP_ENDPOINT"),
            variable("OTEL_SDK_DISABLED")?.lowercased() != "true", variable("OTEL_\(signal.word)_EXPORTER") != "none"
        else { return nil }
        if let name = setting("PROTOCOL"), name != "http/json" {
            throw Failure(description: "bmo sends only http/json, not OTEL_EXPORTER_OTLP_PROTOCOL=\(name)")
        }
        guard let url = URLComponents(string: endpoint), url.scheme == "http", let host = url.host, !host.isEmpty,
            url.user == nil, url.password == nil
        else {
            throw Failure(
                description:
                    "the OTLP endpoint must have the form http://HOST:PORT; bmo sends \(signal.rawValue) without TLS, "
                    + "so use a collector on this machine")
        }
        // The general endpoint is the root of all signals.
        let root =
            url.percentEncodedPath.hasSuffix("/") ? url.percentEncodedPath.dropLast() : url.percentEncodedPath[...]
        let path = own == nil ? "\(root)/v1/\(signal.rawValue)" : url.percentEncodedPath
        target = WebClient.Target(
            host: host.trimmingCharacters(in: ["[", "]"]), port: url.port ?? 4318, path: path.isEmpty ? "/" : path)
        headers = Self.pairs(setting("HEADERS") ?? "")
        for header in headers
        where header.name.contains(where: \.isWhitespace) || header.value.contains(where: \.isNewline) {
            throw Failure(description: "OTEL_EXPORTER_OTLP_HEADERS has not the form NAME=VALUE,NAME=VALUE")
        }
        timeout = .milliseconds(setting("TIMEOUT").flatMap { Int($0) }.map { min(max($0, 1), 600_000) } ?? 10_000)
        var resource = Self.pairs(variable("OTEL_RESOURCE_ATTRIBUTES") ?? "")
        if let name = variable("OTEL_SERVICE_NAME") {
            resource.removeAll { $0.name == "service.name" }
            resource.append(("service.name", name))
        }
        if !resource.contains(where: { $0.name == "service.name" }) { resource.append(("service.name", "bmo")) }
        // Each process writes series of its own.
        if !resource.contains(where: { $0.name == "service.instance.id" }) {
            resource.append(("service.instance.id", UUID().uuidString.lowercased()))
        }
        self.resource = resource
    }

    /// Reads `NAME=VALUE,NAME=VALUE`, percent-encoded (W3C Baggage without properties).
    private static func pairs(_ text: String) -> [(name: String, value: String)] {
        text.split(separator: ",").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, !parts[0].isEmpty else { return nil }
            return (parts[0], parts[1].removingPercentEncoding ?? parts[1])
        }
    }
}
