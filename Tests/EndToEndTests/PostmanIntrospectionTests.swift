import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo introspect postman`: a collection with saved examples becomes a configuration that syncs.
    @Suite struct PostmanIntrospectionTests {
        @Test func `a request with an example becomes an entity that syncs`() async throws {
            let place = try await RemoteWorkspace("airbyte-shop.py", environment: ["SHOP_API_KEY": "Key secret-key"])
            let example = #"{\"data\": {\"boards\": [{\"id\": \"b9\", \"label\": {\"text\": \"Nine\"}}]}}"#
            try place.folder.write(
                """
                {"info": {"name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
                 "auth": {"type": "apikey", "apikey": [{"key": "key", "value": "Authorization"}, {"key": "value", "value": "never-copied"}]},
                 "variable": [{"key": "base", "value": "\(place.url)"}],
                 "item": [{"name": "Boards", "item": [
                  {"name": "List", "request": {"method": "GET", "url": {"raw": "{{base}}/v1/boards?page=1", "query": [{"key": "page", "value": "1"}]}},
                   "response": [{"name": "ok", "code": 200, "body": "\(example)"}]},
                  {"name": "Create", "request": {"method": "POST", "url": "{{base}}/v1/boards"}, "response": []}]}]}

                """, to: "shop.json")
            let run = try await place.bmo("introspect", "postman", "shop.json", "--report", "-o", "bmo.yml")
            #expect(run.exitCode == 0, "\(run)")
            run.expectMessages(
                "2 requests: 1 carried, 0 carried with doubts, 1 not carried", "not carried: Boards / Create",
                "POST /v1/boards is not a listing")
            #expect(
                try !String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8).contains("never-copied")
            )
            try await place.expectSuccess("check")
            try await place.expectSuccess("sync")
            #expect(try await place.query("SELECT id FROM boards ORDER BY id") == "b1\nb2\nb3")
            #expect(try await place.bmo("introspect", "postman").exitCode != 0)
        }
    }
}
