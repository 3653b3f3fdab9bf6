import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo introspect dlt`: a configuration of dlt becomes one of bmo that syncs.
    @Suite struct DLTIntrospectionTests {
        private func place(_ resources: String) async throws -> RemoteWorkspace<RemoteServer> {
            let place = try await RemoteWorkspace("airbyte-shop.py", environment: ["SHOP_API_KEY": "Key secret-key"])
            try place.folder.write(
                """
                {"client": {"base_url": "\(place.url)/v1", "auth": {"type": "api_key", "api_key": "never-copied"}},
                 "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
                 "resources": [\(resources)]}

                """, to: "shop.json")
            return place
        }

        @Test func `resources become entities that sync, and sync what is new`() async throws {
            let place = try await place(
                """
                {"name": "boards", "endpoint": {"data_selector": "data.boards", "paginator": {"type": "page_number", "base_page": 1}}},
                {"name": "cards", "endpoint": {"path": "boards/{resources.boards.id}/cards", "params": {"kind": "bug"},
                 "paginator": "single_page", "response_actions": [{"status_code": 404, "action": "ignore"}]}},
                {"name": "events", "columns": {"at": {"data_type": "bigint"}, "size": {"data_type": "double"}}, "endpoint": {
                 "data_selector": "events", "paginator": "single_page", "params": {"to": 9999999999,
                 "from": {"type": "incremental", "cursor_path": "at", "initial_value": 1704067200}}}}
                """)
            let run = try await place.bmo("introspect", "dlt", "shop.json", "--report", "-o", "bmo.yml")
            #expect(run.exitCode == 0, "\(run)")
            run.expectMessages("3 resources: 3 carried, 0 carried with doubts, 0 not carried")
            #expect(
                try !String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8).contains("never-copied")
            )
            try await place.expectSuccess("check")
            try await place.expectSuccess("sync")
            #expect(try await place.query("SELECT id FROM boards ORDER BY id") == "b1\nb2\nb3")
            #expect(try await place.query("SELECT id, of_boards FROM cards ORDER BY id") == "b1bug|b1\nb2bug|b2")
            #expect(
                try await place.query("SELECT id, at, size FROM events ORDER BY id")
                    == "e1|1704153600|1.5\ne2|1705276800|1.5\ne3|1708387200|1.5")
            try place.folder.write("", to: "late")
            try await place.expectSuccess("sync", "events")
            #expect(try await place.query("SELECT count(*) FROM events") == "4")
            let asked = try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8)
            #expect(asked.contains(#""from": "1704067200""#) && asked.contains(#""from": "1708387200""#), "\(asked)")
        }

        @Test func `a configuration without a resource that can be carried ends with 1`() async throws {
            let place = try await place(#"{"name": "boards", "endpoint": {"paginator": "Custom"}}"#)
            let run = try await place.bmo("introspect", "dlt", "shop.json", "--report", "-o", "bmo.yml")
            #expect(run.exitCode == 1, "\(run)")
            run.expectMessages("not carried: boards", "its paginator Custom is custom Python")
            for arguments in [["introspect", "dlt"], ["introspect", "dlt", "none.json"]] {
                #expect(try await place.bmo(arguments).exitCode != 0)
            }
        }
    }
}
