import Foundation

/// A running `Fixtures/rest/server.py` on two free ports; stopped when dropped.
package final class ServerProcess: Sendable {
    /// The first origin, such as `http://127.0.0.1:12345`.
    package let url: String
    /// The same API on another port: another origin.
    package let otherURL: String
    private let process: Process
    private let input: Pipe
    private let folder: URL

    /// One line of the server's log.
    package struct Event {
        package let event: String
        package let time: Double
        package let path: String
        package let origin: Int
        package let headers: [String: String]
        package let client: Int
    }

    package struct Failure: Error {
        let what: String
    }

    /// One server for tests that don't look at its log; it ends with this process.
    package static let shared = Result { try ServerProcess() }

    /// - Parameter script: The server's file in `Fixtures/rest`.
    package init(script: String = "server.py") throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        folder = FileManager.default.temporaryDirectory.appending(path: "bmo-rest-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", root.appending(path: "Fixtures/rest/\(script)").path, folder.appending(path: "log").path,
        ]
        let output = Pipe()
        input = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        var bytes = Data()
        while bytes.last != UInt8(ascii: "\n"), let more = try output.fileHandleForReading.read(upToCount: 1) {
            bytes += more
        }
        let line = String(decoding: bytes, as: UTF8.self)
        let ports = line.split(whereSeparator: \.isWhitespace)
        guard ports.count == 2 else { throw Failure(what: "the server said \(line)") }
        url = "http://127.0.0.1:\(ports[0])"
        otherURL = "http://127.0.0.1:\(ports[1])"
    }

    deinit {
        // A child of a test's thread inherits a mask that blocks SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// What the server was asked so far.
    package func events() throws -> [Event] {
        let text = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let event = object["event"] as? String, let time = object["time"] as? Double,
                let path = object["path"] as? String, let origin = object["origin"] as? Int,
                let headers = object["headers"] as? [String: String], let client = object["client"] as? Int
            else { throw Failure(what: "no event: \(line)") }
            return Event(event: event, time: time, path: path, origin: origin, headers: headers, client: client)
        }
    }
}
