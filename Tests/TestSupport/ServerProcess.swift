import Foundation

/// A running `Fixtures/rest/server.py`, or another script there, on two free ports; stopped when dropped.
package final class ServerProcess: Sendable {
    private let server: RemoteServer

    /// The first origin, such as `http://127.0.0.1:12345`.
    package var url: String { server.url }
    /// The same API on another port: another origin.
    package var otherURL: String { "http://127.0.0.1:\(server.ports[1])" }

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
        server = try RemoteServer(
            blocking: ["python3", "\(PackageFolder.path)/Fixtures/rest/\(script)", "log"], marker: "")
        guard server.ports.count == 2 else { throw Failure(what: "the server prints \(server.log)") }
    }

    /// What the server was asked so far.
    package func events() throws -> [Event] {
        let text = try String(contentsOfFile: server.folder.appending("log"), encoding: .utf8)
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
