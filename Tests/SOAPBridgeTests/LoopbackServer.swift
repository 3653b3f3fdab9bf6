import Glibc
import TestSupport

/// A server program of one test's own, on a free port of 127.0.0.1; stopped, by its pid, with the last reference.
final class LoopbackServer: Sendable {
    let port: Int
    let folder: TemporaryFolder
    private let process: RunningProcess

    var url: String { "http://127.0.0.1:\(port)" }

    /// What it has printed so far.
    var log: String { process.output + process.errorOutput }

    /// Starts a program in a temporary folder of `files`; `marker` stands before the port in what it prints.
    init(_ arguments: [String], files: [String: String], marker: String) async throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        let process = try RunningProcess(arguments[0], Array(arguments.dropFirst()), directory: folder.path)
        self.process = process
        do {
            port = try await eventually("\(arguments) tells its port") {
                let log = process.output + process.errorOutput
                guard let marked = log.firstRange(of: marker) else { return nil }
                let digits = log[marked.upperBound...].prefix { $0.isNumber }
                // The number is whole only when something stands after it.
                return digits.endIndex < log.endIndex ? Int(digits) : nil
            }
        } catch {
            process.signal(SIGKILL)
            process.finishBlocking()
            throw error
        }
    }

    deinit {
        process.signal(SIGKILL)
        process.finishBlocking()
    }

    /// PHP's built-in server with a router script.
    static func php(_ files: [String: String], router: String) async throws -> LoopbackServer {
        try await LoopbackServer(
            ["php", "-d", "soap.wsdl_cache_enabled=0", "-S", "127.0.0.1:0", router], files: files,
            marker: "http://127.0.0.1:")
    }

    /// A Python script that prints `port N`.
    static func python(_ script: String) async throws -> LoopbackServer {
        try await LoopbackServer(["python3", "-u", "server.py"], files: ["server.py": script], marker: "port ")
    }
}
