import Foundation
import Synchronization

/// A server program of one test's own, on a free port of 127.0.0.1; stopped, by its pid, with the last reference.
final class LoopbackServer: Sendable {
    let port: Int
    let folder: URL
    private let process: Mutex<Process>

    var url: String { "http://127.0.0.1:\(port)" }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a program in a temporary folder of `files`; `marker` stands before the port in what it prints.
    init(_ arguments: [String], files: [String: String], marker: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "bmo-soap-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
        let log = folder.appending(path: "server.log")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        let output = try FileHandle(forWritingTo: log)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let deadline = ContinuousClock.now + .seconds(20)
        var found: Int?
        var text = ""
        while found == nil, ContinuousClock.now < deadline, process.isRunning {
            text = String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
            if let range = text.range(of: marker) {
                let digits = text[range.upperBound...].prefix { $0.isNumber }
                // The number is whole only when something stands after it.
                if !digits.isEmpty, digits.endIndex < text.endIndex { found = Int(digits) }
            }
            if found == nil { usleep(5_000) }
        }
        guard let found else {
            kill(process.processIdentifier, SIGKILL)
            throw Failure(description: "\(arguments) did not tell a port: \(text)")
        }
        port = found
        self.process = Mutex(process)
    }

    deinit {
        process.withLock { process in
            // Not SIGTERM: a child inherits what the test's thread blocks, and that is most signals.
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// What it has printed so far.
    var log: String {
        String(decoding: (try? Data(contentsOf: folder.appending(path: "server.log"))) ?? Data(), as: UTF8.self)
    }

    /// PHP's built-in server with a router script.
    static func php(_ files: [String: String], router: String) throws -> LoopbackServer {
        try LoopbackServer(
            ["php", "-d", "soap.wsdl_cache_enabled=0", "-S", "127.0.0.1:0", router], files: files,
            marker: "http://127.0.0.1:")
    }

    /// A Python script that prints `port N`.
    static func python(_ script: String) throws -> LoopbackServer {
        try LoopbackServer(["python3", "-u", "server.py"], files: ["server.py": script], marker: "port ")
    }
}
