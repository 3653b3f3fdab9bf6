import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A listing of pages with ETags, synced again and again.
    @Suite struct ValidatorTests: TestWorkspace {
        let server: RemoteServer
        let folder: TemporaryFolder

        init() throws {
            server = try RemoteServer.fixture()
            folder = try TemporaryFolder()
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)/zoo"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    incremental: token
                    deletes: {brake: {share: 50%}}
                    attributes: {id: integer, name: text}
                    rest: {path: "/marked?of=e2e"}

                """, to: "bmo.yml")
        }

        private func sync() async throws -> [String: Any] {
            let run = try await bmo("sync", "--json")
            try #require(run.exitCode == 0, "\(run)")
            return try #require(run.lastObject(about: "User"), "\(run)")
        }

        private func names() async throws -> String {
            try await query("SELECT count(*), max(name) FROM User")
        }

        private func tell(_ query: String) async throws {
            let run = try await ProcessRun.run("curl", ["-sSf", "\(server.url)/zoo/marked-set?of=e2e&\(query)"])
            try #require(run.exitCode == 0, "\(run)")
        }

        @Test func `what did not move writes not one byte, and what did comes whole, with its deletions`() async throws
        {
            #expect(try await sync()["inserted"] as? Int == 25)
            let before = try Data(contentsOf: URL(filePath: folder.appending("bmo.sqlite")))
            let asked = try server.events().count
            let again = try await sync()
            #expect(again["unchanged"] as? Int == 0, "no record came: \(again)")
            #expect(try server.events().count > asked)
            #expect(try Data(contentsOf: URL(filePath: folder.appending("bmo.sqlite"))) == before)
            #expect(try await names() == "25|User")

            try await tell("users=17&name=Will")
            let third = try await sync()
            #expect(third["updated"] as? Int == 1 && third["deleted"] as? Int == 8, "\(third)")
            #expect(try await names() == "17|Will")
            #expect(try await sync()["unchanged"] as? Int == 0)
        }

        @Test func `checking a listing page by page does not hold up another entity's import`() async throws {
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)/zoo"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    incremental: token
                    attributes: {id: integer, name: text}
                    rest: {path: "/marked?of=e2e"}
                  Late: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /late}}

                """, to: "bmo.yml")
            try await tell("users=900")
            #expect(try await sync()["inserted"] as? Int == 900)
            try await tell("users=900&slow=70")
            let run = try await bmo("sync")
            let ends = run.errorOutput.split(separator: "\n").filter { $0.contains(": finished") }.map { $0.prefix(4) }
            #expect(run.exitCode == 0 && ends == ["Late", "User"], "\(run)")
        }
    }
}
