import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What a scan by parent asks for where the parent has no value, or no such attribute: never for the children of all.
    @Suite struct ParentValueTests {
        private func configure(_ server: RemoteWorkspace<RemoteServer>, team: String) throws {
            try server.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  Team:
                    bridge: api
                    key: id
                    attributes: {id: integer, slug: text}
                    rest: {path: /teams}
                  User:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    relationships: {team: {to: Team, write: true}}
                    parent: team
                    writable: true
                    rest: {path: /users, query: {team: "\(team)"}, write: {update: {path: "/users/{key}"}}}

                """, to: "bmo.yml")
        }

        @Test func `a name that the parent does not have is refused by all that would ask with it`() async throws {
            let server = try await RemoteWorkspace("team-slugs.py")
            try configure(server, team: "{parent.ident}")
            for command in [["check"], ["sync"], ["sync", "User"], ["plan"], ["watch", "--every", "1s"]] {
                let run = try await server.start(command)
                    .finish(within: .seconds(60))
                #expect(run.exitCode == 2, "\(command) \(run)")
                run.expectMessages("User: query: {parent.ident} names no attribute", #"there are: "id", "slug""#)
            }
            #expect(!FileManager.default.fileExists(atPath: server.folder.appending("asked")), "nothing was asked")
            // What has no such fault goes on by itself.
            let team = try await server.bmo("sync", "Team")
            #expect(team.exitCode == 0, "\(team)")
            try configure(server, team: "{parent.slug}")
            _ = try await server.bmo("sync")
            // An edit that waits is not sent with a section that has a fault.
            _ = try await server.bmo("update", "User", "11", "--set", "team=2")
            try configure(server, team: "{parent.ident}")
            let push = try await server.bmo("push")
            #expect(push.exitCode == 2, "\(push)")
            push.expectMessages("{parent.ident} names no attribute")
        }

        @Test func `a parent whose value is null is skipped, and its children stay`() async throws {
            let server = try await RemoteWorkspace("team-slugs.py")
            try configure(server, team: "{parent.slug}")
            func rows() async throws -> String {
                try await server.query(
                    "SELECT group_concat(id || ':' || team, ' ') FROM (SELECT * FROM User ORDER BY id)")
            }
            let first = try await server.bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            // The third team's slug is an empty text, which is a value.
            #expect(try await rows() == "10:1 11:1 20:2 30:3")
            try server.folder.write("null", to: "slug")
            let second = try await server.bmo("sync")
            #expect(second.exitCode == 0, "\(second)")
            second.expectMessages("[2]: {parent.slug} of query is null, so this parent is skipped")
            #expect(try await rows() == "10:1 11:1 20:2 30:3", "\(second)")
        }
    }
}
