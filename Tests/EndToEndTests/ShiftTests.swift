import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages shift when something is removed while they are fetched.
    @Suite struct ShiftTests {
        @Test func `a record that slips past a walk is not deleted, and one that is gone is`() async throws {
            let folder = try TemporaryFolder()
            let script = try folder.write(Self.server, to: "server.py")
            let server = try RunningProcess("python3", [script], directory: folder.path)
            let port = try await eventually("the server tells its port") {
                try? String(contentsOfFile: folder.appending("port"), encoding: .utf8)
            }
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "http://127.0.0.1:\(port)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest:
                      path: /items
                      records: $.items
                      paging: {style: page, page_parameter: page, size_parameter: size, size: 20}

                """, to: "bmo.yml")
            for (request, expected) in [("1", "100|1"), ("2", "100|1"), ("3", "97|4")] {
                // Of the second sync, the fourth page comes after three records of the first were removed.
                let sync = try await ProcessRun.run(Command.path(), ["sync"], directory: folder.path)
                #expect(sync.exitCode == 0, "\(sync)")
                let rows = try await ProcessRun.run(
                    "sqlite3", [folder.appending("bmo.sqlite"), "SELECT count(*), min(id) FROM Item"])
                #expect(rows.output == expected + "\n", "sync \(request): \(sync)")
            }
            server.signal(SIGKILL)
            _ = try await server.finish()
        }

        private static let server = """
            import http.server, json, os, urllib.parse
            rows, walks = list(range(1, 101)), [0]
            class Handler(http.server.BaseHTTPRequestHandler):
                def log_message(self, *arguments): pass
                def do_GET(self):
                    page = int(urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).get("page", ["1"])[0])
                    if page == 1: walks[0] += 1
                    if page == 4 and walks[0] == 2: del rows[:3]
                    body = json.dumps({"items": [{"id": row} for row in rows[(page - 1) * 20:page * 20]]}).encode()
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            with open("port.new", "w") as file: file.write(str(server.server_port))
            os.rename("port.new", "port")
            server.serve_forever()
            """
    }
}
