import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What `bmo check --remote` finds out at a server.
    @Suite struct RemoteCheckTests {
        @Test func `a redirect to a login page is not a connection`() async throws {
            let server = try await RemoteWorkspace("login-pages.py")
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
            let server = try await RemoteWorkspace("odata-tombstones.py")
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
