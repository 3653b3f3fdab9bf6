import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What `bmo check --remote` finds out at a server.
    @Suite struct RemoteCheckTests {
        private static let page =
            #"<!doctype html><title>Sign in</title><form><input name=\"p\" type=\"password\"></form>"#

        @Test func `a redirect to a login page is not a connection`() async throws {
            let server = try await ScriptServer(
                """
                def answer(path, query):
                    if path == "/docs": return 200, {"Content-Type": "text/html"}, b"<!doctype html><title>Docs</title>"
                    if path in ("/", "/api"): return 302, {"Location": "/login?next=" + path}, b""
                    if path == "/moved": return 302, {"Location": "/docs"}, b""
                    if path.startswith("/login"): return 200, {"Content-Type": "text/html"}, b'\(Self.page)'
                    return 200, {"ok": True}
                """)
            func check(_ options: String) async throws -> ProcessRun {
                try server.folder.write(
                    """
                    version: 1
                    bridges: {api: {plugin: rest, options: {url: "\(server.url)", \(options)}}}
                    entities:
                      User: {bridge: api, key: id, attributes: {id: integer}, parent: boss, relationships: {boss: {to: User}},
                             rest: {path: "/users/{parent.id}"}}

                    """, to: "bmo.yml")
                return try await server.bmo("check", "--remote")
            }
            for options in ["timeout: 20", "check_path: /api", "check_path: /login"] {
                let run = try await check(options)
                #expect(run.exitCode == 1, "\(run)")
                run.expectMessages("authentication", "login page", "Sign in", "set check_path")
                #expect(!run.allOutput.contains("connected"), "\(run)")
            }
            for path in ["/status", "/moved", "/docs"] {
                try await check("check_path: \(path)").expectMessages("api: connected")
            }
        }

        @Test func `an unreadable tombstone holds the delta token`() async throws {
            let server = try await ScriptServer(
                """
                def answer(path, query):
                    if query.get("delta") == "1":
                        id = "Users(2)" if os.path.exists("mended") else "nonsense"
                        gone = {"@odata.context": "$metadata#Users/$deletedEntity", "id": id, "reason": "deleted"}
                        return 200, {"value": [gone], "@odata.deltaLink": server_url() + "/users?delta=2"}
                    if query.get("delta") == "2": return 200, {"value": [], "@odata.deltaLink": server_url() + "/users?delta=2"}
                    return 200, {"value": [{"id": 1}, {"id": 2}], "@odata.deltaLink": server_url() + "/users?delta=1"}
                def server_url(): return "http://127.0.0.1:" + open("port").read()
                """)
            try server.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    incremental: token
                    rest: {path: /users, preset: odata}

                """, to: "bmo.yml")
            #expect(try await server.bmo("sync").exitCode == 0)
            for _ in 1...2 {
                let held = try await server.bmo("sync")
                held.expectMessages("a deleted object could not be identified by key and went to quarantine")
                #expect(try await server.query("SELECT group_concat(id) FROM User") == "1,2", "\(held)")
            }
            try server.folder.write("", to: "mended")
            let mended = try await server.bmo("sync")
            #expect(mended.exitCode == 0, "\(mended)")
            #expect(try await server.query("SELECT group_concat(id) FROM User") == "1", "\(mended)")
        }
    }
}
