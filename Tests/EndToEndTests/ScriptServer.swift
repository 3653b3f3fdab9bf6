import Foundation
import TestSupport
import Testing

/// A small HTTP server in Python whose replies a test writes.
///
/// `answer(path, query)` gives a status and what becomes JSON, or a status, header fields and bytes. Among the query is
/// `@authorization`, the header field.
final class ScriptServer: Sendable {
    let folder: TemporaryFolder
    let port: String
    private let process: RunningProcess

    var url: String { "http://127.0.0.1:\(port)" }

    /// - Parameter script: Python that defines `answer`; its folder is ``folder``.
    init(_ script: String) async throws {
        folder = try TemporaryFolder()
        let file = try folder.write(Self.head + "\n" + script + "\n" + Self.tail, to: "server.py")
        process = try RunningProcess("python3", [file], directory: folder.path)
        port = try await eventually("the server tells its port") { [folder] in
            try? String(contentsOfFile: folder.appending("port"), encoding: .utf8)
        }
    }

    deinit { process.signal(SIGKILL) }

    /// Runs the built command beside the server, to its end.
    func bmo(_ arguments: String...) async throws -> ProcessRun {
        try await RunningProcess(Command.path(), arguments, directory: folder.path).finish(within: .seconds(60))
    }

    /// What sqlite3 says to a query, without the last line's end.
    func query(_ sql: String) async throws -> String {
        let run = try await ProcessRun.run("sqlite3", ["-readonly", folder.appending("bmo.sqlite"), sql])
        try #require(run.exitCode == 0, "\(run)")
        return run.output.trimmingCharacters(in: .newlines)
    }

    private static let head = "import http.server, json, os, urllib.parse"
    private static let tail = """
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *arguments): pass
            def do_GET(self):
                url = urllib.parse.urlparse(self.path)
                query = {name: values[0] for name, values in urllib.parse.parse_qs(url.query, keep_blank_values=True).items()}
                query["@authorization"] = self.headers.get("Authorization", "")
                said = answer(url.path, query)
                status, fields, body = said if len(said) == 3 else (said[0], {}, json.dumps(said[1]).encode())
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **fields}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        with open("port.new", "w") as file: file.write(str(server.server_port))
        os.rename("port.new", "port")
        server.serve_forever()
        """
}
