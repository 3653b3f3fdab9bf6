import Foundation

/// The servers of Fixtures/rest, which have the same API on two ports, and so at two origins.
extension RemoteServer {
    /// One line of such a server's log.
    package struct Event {
        package let event: String
        package let time: Double
        package let path: String
        package let origin: Int
        package let headers: [String: String]
        package let client: Int
    }

    private struct FixtureError: Error {
        let what: String
    }

    /// One `server.py` for tests that do not look at its log; it ends with this process.
    package static let shared = Result { try fixture() }

    /// Starts a script of Fixtures/rest.
    package static func fixture(_ script: String = "server.py") throws -> RemoteServer {
        let server = try RemoteServer(
            blocking: ["python3", "\(PackageFolder.path)/Fixtures/rest/\(script)", "log"], marker: "")
        guard server.ports.count == 2 else { throw FixtureError(what: "the server prints \(server.log)") }
        return server
    }

    /// The same API on the other port.
    package var otherURL: String { "http://127.0.0.1:\(ports[1])" }

    /// The requests that the server has logged so far.
    package func events() throws -> [Event] {
        let text = try String(contentsOfFile: folder.appending("log"), encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let event = object["event"] as? String, let time = object["time"] as? Double,
                let path = object["path"] as? String, let origin = object["origin"] as? Int,
                let headers = object["headers"] as? [String: String], let client = object["client"] as? Int
            else { throw FixtureError(what: "no event: \(line)") }
            return Event(event: event, time: time, path: path, origin: origin, headers: headers, client: client)
        }
    }
}
