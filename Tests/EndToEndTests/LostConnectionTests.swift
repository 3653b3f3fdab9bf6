import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Commands that lose a connection to PostgreSQL once, while the server is up.
    @Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
    struct LostConnectionTests {
        private let place: RemoteWorkspace<NoteServer>

        init() throws { place = try RemoteWorkspace.notes() }

        private func configure(_ location: String, as file: String = "bmo.yml") throws {
            try place.folder.write(
                place.server.configuration()
                    .replacing("version: 1\n", with: "version: 1\ndatabase: \"\(location)\"\n"),
                to: file)
        }

        /// Starts a proxy that cuts the connection of the first message after a number of commits.
        private func proxy(before server: PostgreSQLServer, cutsAfter commits: Int) async throws -> RemoteServer {
            try await RemoteServer(
                ["python3", "-u", "-c", Self.proxy, server.folder.appending(".s.PGSQL.5432"), "\(commits)"])
        }

        private static let proxy = #"""
            import socket, sys, threading

            state = {"commits": 0, "cuts": False}

            def close(*ends):
                for end in ends:
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

            def up(client, server):
                try:
                    while data := client.recv(65536):
                        if state["cuts"] and data[:1] != b"X":
                            state["cuts"] = False
                            break
                        server.sendall(data)
                except OSError:
                    pass
                close(client, server)

            def down(client, server):
                try:
                    while data := server.recv(65536):
                        if b"COMMIT\0" in data:
                            state["commits"] += 1
                            state["cuts"] = state["cuts"] or state["commits"] == int(sys.argv[2])
                        client.sendall(data)
                except OSError:
                    pass
                close(client, server)

            listener = socket.create_server(("127.0.0.1", 0))
            print("port", listener.getsockname()[1])
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(sys.argv[1])
                for body in (up, down):
                    threading.Thread(target=body, args=(client, server), daemon=True).start()
            """#

        @Test(arguments: 1...8, ["--json", "--or-rollback"])
        func `a create is done exactly if the command says so`(_ commits: Int, _ option: String) async throws {
            let server = try PostgreSQLServer.shared.get()
            let location = server.newLocation()
            let schema = PostgreSQLServer.schema(of: location)
            try configure(location)
            try await place.expectSuccess("sync", "-q")
            let proxy = try await proxy(before: server, cutsAfter: commits)
            try configure("postgresql://bmo@127.0.0.1:\(proxy.port)/postgres?schema=\(schema)", as: "cut.yml")
            let run = try await place.bmo("create", "-f", "cut.yml", "Note", "--set", "text=a", option)
            let rows = try server.rows(#"SELECT text FROM \#(schema)."Note""#)
            let waiting = try server.rows("SELECT state FROM \(schema).bmo_outbox")
            let sent = try await place.server.content().contains(#""text": "a""#)
            let isDone = run.exitCode == 0
            if option == "--json" {
                #expect(rows == (isDone ? ["a"] : []) && waiting == (isDone ? ["pending"] : []), "\(run)")
                #expect(run.output.contains(#""entry":1"#) == isDone, "\(run)")
            } else {
                // An edit that stays is named.
                let isNamed = run.errorOutput.contains("outbox 1")
                #expect(sent == isDone || isNamed, "\(run)")
                #expect(isNamed || rows == (isDone ? ["a"] : []), "\(run)")
                #expect(isNamed || waiting.isEmpty, "\(run)")
            }
        }

        @Test func `pages are shown after the server has ended the connections that were idle`() async throws {
            // Its own server, as it ends the connections of all.
            let server = try PostgreSQLServer()
            try configure(server.newLocation())
            try await place.expectSuccess("sync", "-q")
            let page = try await PageBrowser(in: place.folder.path)
            for path in ["/health", "/entity/Note.json", "/"] {
                #expect(try await page.get(path).status == 200)
                let ended = try server.rows(
                    """
                    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                    WHERE datname = 'postgres' AND pid <> pg_backend_pid()
                    """)
                #expect(!ended.isEmpty)
                let reply = try await page.get(path)
                #expect(reply.status == 200, "\(path): \(reply)")
            }
            server.stop()
        }
    }
}
