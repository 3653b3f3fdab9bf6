import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages shift when something is removed while they are fetched.
    @Suite struct ShiftTests {
        @Test func `a record that slips past a scan is not deleted, and one that is gone is`() async throws {
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

        private static let server = TestServers.text("shifting-pages.py")
    }
}
