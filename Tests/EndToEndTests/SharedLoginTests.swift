import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// Refresh tokens that are replaced with each use, on a server that revokes a login whose old token is used again.
    @Suite struct SharedLoginTests {
        private static let teams = 160
        private static let token = "refresh-first-0123456789abcdef"
        private static let secondToken = "refresh-second-0123456789abcdef"

        /// Where the command runs, with a server of its own.
        private struct Place {
            let workspace: RemoteWorkspace<RemoteServer>

            init(uses: Int, location: String = "bmo.sqlite", isolation: String = "in_process") async throws {
                workspace = try await RemoteWorkspace(
                    "rotating-tokens.py", "\(SharedLoginTests.teams)", "\(uses)", SharedLoginTests.token,
                    SharedLoginTests.secondToken)
                try workspace.folder.write(
                    """
                    version: 1
                    database: \(location)
                    bridges:
                      api:
                        plugin: rest
                        isolation: \(isolation)
                        options:
                          url: "\(workspace.url)"
                          auth: {type: oauth2, token_url: /token, client_id: bmo, refresh_token: {file: token}}
                    entities:
                      Team:
                        bridge: api
                        key: id
                        attributes: {id: integer}
                        rest: {path: /teams, paging: none}
                      User:
                        bridge: api
                        key: id
                        attributes: {id: integer, name: text}
                        relationships: {team: {to: Team}}
                        parent: {relationship: team, concurrency: 1}
                        rest: {path: /users, query: {team: "{parent.id}"}, paging: none}

                    """, to: "bmo.yml")
                try workspace.folder.write(SharedLoginTests.token, to: "token")
            }

            private func lines(_ file: String) -> [String] {
                let text = (try? String(contentsOfFile: workspace.folder.appending(file), encoding: .utf8)) ?? ""
                return text.split(separator: "\n").map(String.init)
            }

            /// What became of the requests for tokens.
            var requests: [String] { lines("tokens") }
            /// All tokens that the server has issued.
            var issued: [String] { lines("issued") }

            /// Checks that a text shows none of the tokens.
            func expectNoToken(in text: String, sourceLocation: SourceLocation = #_sourceLocation) {
                #expect(!issued.isEmpty, sourceLocation: sourceLocation)
                for token in issued + [SharedLoginTests.token] {
                    #expect(!text.contains(token), "\(token) in \(text)", sourceLocation: sourceLocation)
                }
            }
        }

        @Test(
            .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"),
            arguments: ["in_process", "process"])
        func `four workers, and the commands after them, share one login`(isolation: String) async throws {
            let server = try PostgreSQLServer.shared.get()
            let location = server.newLocation()
            let schema = PostgreSQLServer.schema(of: location)
            let place = try await Place(uses: 40, location: location, isolation: isolation)
            let workers = try (0..<4).map { _ in
                try place.workspace.start(["work", "--until-idle", "--every", "0s", "--verbose"])
            }
            for worker in workers {
                let ended = try await worker.finish(within: .seconds(60))
                #expect(ended.exitCode == 0, "\(ended)")
                place.expectNoToken(in: ended.allOutput)
            }
            #expect(try server.rows(#"SELECT count(*) FROM \#(schema)."User""#) == ["\(2 * Self.teams)"])
            // Tokens expire while all four are at work.
            #expect(place.requests.count >= 4)
            #expect(place.requests.nonEmptyAllSatisfy { $0 == "granted" }, "\(place.requests)")
            for arguments in [["sync"], ["check", "--remote"], ["sync", "--full"]] {
                let run = try await place.workspace.bmo(arguments)
                #expect(run.exitCode == 0, "\(run)")
                place.expectNoToken(in: run.allOutput)
            }
            #expect(place.requests.nonEmptyAllSatisfy { $0 == "granted" }, "\(place.requests)")
            let saved = try server.rows("SELECT s::text FROM \(schema).bmo_secrets s")
            #expect(try server.rows("SELECT 1 FROM \(schema).bmo_secrets WHERE item = 'text'").count == 1)
            place.expectNoToken(in: saved.joined(separator: "\n"))
        }

        @Test func `a sync continues the login of the last one, from a file that only its user can read`() async throws
        {
            let place = try await Place(uses: 1000)
            for _ in 1...2 { try await place.workspace.expectSuccess("sync") }
            // The second one reads the token of the first.
            #expect(place.requests == ["granted"])
            let folder = place.workspace.database + "-tokens"
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                let file = folder + "/" + name
                place.expectNoToken(in: try String(contentsOfFile: file, encoding: .utf8))
                var status = stat()
                #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            }
            var status = stat()
            #expect(stat(folder, &status) == 0 && status.st_mode & 0o777 == 0o700)
            // A copy is another database, and has no part in the login.
            try await place.workspace.expectSuccess("copy", "--to", "copy.sqlite")
            #expect(!FileManager.default.fileExists(atPath: place.workspace.folder.appending("copy.sqlite-tokens")))
        }

        @Test func `a token that was lost with a killed process is reported with what to do, and a new one is taken`()
            async throws
        {
            let place = try await Place(uses: 1000)
            try place.workspace.folder.write("", to: "hold")
            let killed = try place.workspace.start(["sync"])
            try await eventually("the server has replaced the token") { place.requests == ["granted"] }
            killed.signal(SIGKILL)
            let pid = killed.pid
            _ = try await killed.finish(within: .seconds(60))
            try FileManager.default.removeItem(atPath: place.workspace.folder.appending("hold"))
            let run = try await place.workspace.bmo("sync")
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.allOutput.contains("the refresh token is not valid any more; process \(pid) on "), "\(run)")
            #expect(run.allOutput.contains("requested a new one, and ended before it could save the answer"), "\(run)")
            #expect(run.allOutput.contains("authorize bmo again, and put the new refresh token where"), "\(run)")
            #expect(place.requests == ["granted", "reused"])
            place.expectNoToken(in: run.allOutput)
            try place.workspace.folder.write(Self.secondToken, to: "token")
            for _ in 1...2 { try await place.workspace.expectSuccess("sync") }
            #expect(place.requests == ["granted", "reused", "granted"])
        }
    }
}
