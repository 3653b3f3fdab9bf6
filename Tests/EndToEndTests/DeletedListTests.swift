import TestSupport
import Testing

extension EndToEndTests {
    /// A remote that lists what it has deleted beside what has changed.
    @Suite struct DeletedListTests {
        private func site(_ key: String) async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: \(key)}
                    incremental: token
                    rest:
                      path: /items.json
                      records: $.items
                      paging: none
                      incremental: {token: $.sync_token, parameter: since, deleted: $.gone}
                """)
            let items = #"[{"id": 1}, {"id": 2}, {"id": 3}]"#
            try site.publish(#"{"items": \#(items), "sync_token": "t1", "gone": []}"#, as: "items.json")
            let first = try await site.bmo("sync")
            try #require(first.exitCode == 0, "\(first)")
            return site
        }

        private func token(_ site: RemoteWorkspace<RemoteServer>) async throws -> String {
            try await site.query("SELECT token FROM bmo_cursors")
        }

        @Test func `bare keys are read by a key that has @value as its second path`() async throws {
            let site = try await site(#"{type: integer, from: [id, "@value"], transform: first}"#)
            try site.publish(#"{"items": [{"id": 4}], "sync_token": "t2", "gone": [1, {"id": 2}]}"#, as: "items.json")
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try await site.query("SELECT group_concat(id) FROM Item") == "3,4")
            #expect(try await token(site) == #"{"delta":"t2"}"#)
        }

        @Test(arguments: ["[1, {\"id\": 2}]", "[null]"])
        func `an element without the key goes to quarantine, and the token stays`(gone: String) async throws {
            let site = try await site("integer")
            try site.publish(#"{"items": [], "sync_token": "t2", "gone": \#(gone)}"#, as: "items.json")
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 1, "\(sync)")
            #expect(
                try await site.query("SELECT reason FROM bmo_quarantine")
                    == "a deleted object: the key Item.id is missing; to read a key that stands alone, let the attribute have "
                    + #"from: [NAME, "@value"], transform: first"#)
            #expect(try await token(site) == #"{"delta":"t1"}"#)
        }

        @Test func `a scalar in place of the list fails, and the token stays`() async throws {
            let site = try await site("integer")
            try site.publish(#"{"items": [], "sync_token": "t2", "gone": 1}"#, as: "items.json")
            let sync = try await site.bmo("sync")
            #expect(sync.exitCode == 1, "\(sync)")
            sync.expectMessages("the reply has no list of objects at $.gone")
            #expect(try await token(site) == #"{"delta":"t1"}"#)
            #expect(try await site.query("SELECT count(*) FROM Item") == "3")
        }
    }
}
