import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A remote that returns changes since a token, and forgets its tokens.
    @Suite struct ExpiredTokenTests {
        private func serve(_ rest: String) async throws -> RemoteWorkspace<RemoteServer> {
            let remote = try await RemoteWorkspace("expiring-token.py")
            try remote.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(remote.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    incremental: token
                    rest: {\(rest)}

                """, to: "bmo.yml")
            return remote
        }

        private static let changes =
            "path: /changes, records: $.items, incremental: {token: $.sync_token, parameter: sync_token}, "
            + "paging: {style: cursor, path: $.next_page_token, parameter: page_token}"
        private static let odata = "path: /odata, preset: odata"

        @Test func `a token in a reply without a next cursor shows the end`() async throws {
            let remote = try await serve(Self.changes)
            let first = try await remote.bmo("sync")
            #expect(first.exitCode == 0 && !first.allOutput.contains("incomplete"), "\(first)")
            #expect(try await remote.query("SELECT count(*) FROM bmo_cursors") == "1")
            try remote.folder.write("[1]", to: "rows")
            _ = try await remote.bmo("sync")
            #expect(try await remote.query("SELECT count(*) FROM Item") == "3", "only changes were requested")
        }

        @Test(arguments: [changes, odata], ["410 gone", "400 resyncRequired", "404 syncStateNotFound"])
        func `a token that the remote does not know any more starts over`(rest: String, answer: String) async throws {
            let remote = try await serve(rest)
            _ = try await remote.bmo("sync")
            try remote.folder.write("[1, 3, 4]", to: "rows")
            try remote.folder.write(answer, to: "expired")
            let sync = try await remote.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            sync.expectMessages("the remote does not know the token of the last sync any more")
            #expect(!sync.allOutput.contains("incomplete"), "\(sync)")
            #expect(try await remote.query("SELECT group_concat(id) FROM (SELECT id FROM Item ORDER BY id)") == "1,3,4")
        }

        @Test func `a refusal for another reason is a failure`() async throws {
            let remote = try await serve(Self.changes)
            _ = try await remote.bmo("sync")
            try remote.folder.write("404 unknownUser", to: "expired")
            #expect(try await remote.bmo("sync").exitCode == 1)
        }
    }
}
