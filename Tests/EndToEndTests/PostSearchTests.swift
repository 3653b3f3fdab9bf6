import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Listings that are requested by POST, as `bmo introspect` writes them: the file is used as it is.
    @Suite struct PostSearchTests: TestWorkspace {
        private let server: RemoteWorkspace<RemoteServer>
        var folder: TemporaryFolder { server.folder }
        let environment: [String: String] = [:]

        init() async throws { server = try await RemoteWorkspace("post-search.py") }

        private func asked() throws -> [Substring] {
            try String(contentsOfFile: folder.appending("asked"), encoding: .utf8).split(separator: "\n")
        }

        @Test func `searches of an OpenAPI document bring all their pages`() async throws {
            let introspect = try await bmo(
                "introspect", "rest", "--openapi", server.url + "/openapi.json", "-o", "bmo.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            for line in ["method: POST", "body: {filter: {}, kind: sale}", "offset_parameter: pagination.offset"] {
                #expect(text.contains(line), "no \(line) in\n\(text)")
            }
            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)\n\(text)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)\n\(text)")
            #expect(
                try await server.query("SELECT count(*), min(id), max(id), sum(total), max(placed_at) FROM \"Order\"")
                    == "23|1|23|287.5|2026-01-24T08:00:00.000000Z")
            #expect(
                try await server.query("SELECT count(*), min(sku), max(sku), sum(stock) FROM Part")
                    == "17|p01|p17|459")
            #expect(
                try await server.query("SELECT count(*), min(ticket_id), max(ticket_id), sum(open) FROM Ticket")
                    == "12|t01|t12|6")
            let requests = try asked()
            #expect(requests.contains { $0.contains("/orders/search") && $0.contains(#""page": 4, "per_page": 7"#) })
            #expect(requests.contains { $0.contains("/parts/list") && $0.contains(#""limit": 6, "offset": 12"#) })
            #expect(requests.contains { $0.contains("/tickets/query") && $0.contains(#""cursor": "10", "limit": 5"#) })
            // Nothing changes on the second time, and what a listing lacks is known to be gone.
            let second = try await bmo("sync", "--json")
            #expect(second.exitCode == 0, "\(second)")
            for entity in ["Order", "Part", "Ticket"] {
                let report = try #require(second.lastObject(about: entity), "\(second)")
                #expect(report["incomplete"] == nil, "\(report)")
                #expect(report["inserted"] as? Int == 0 && report["updated"] as? Int == 0, "\(report)")
            }
        }

        @Test func `a search that lacks a value syncs once it has it, without its comment signs`() async throws {
            let introspect = try await bmo(
                "introspect", "rest", "--openapi", server.url + "/openapi.json", "-o", "bmo.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            introspect.expectMessages("3 entities ready, 1 to be completed")
            var parts = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
                .split(separator: "# Not ready: add what each one lacks, and remove the # in front.").map(String.init)
            try #require(parts.count == 2, "\(parts)")
            #expect(parts[1].contains("the request needs values for tenant: set them under body"), "\(parts[1])")
            parts[1] = parts[1].replacing("\n  # ", with: "\n  ").replacing("body: {}", with: "body: {tenant: acme}")
            try folder.write(parts.joined(separator: "\n"), to: "bmo.yml")
            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)\n\(parts[1])")
            let sync = try await bmo("sync", "Invoice")
            #expect(sync.exitCode == 0, "\(sync)\n\(parts[1])")
            #expect(
                try await server.query("SELECT count(*), min(due), max(due), min(tenant) FROM Invoice")
                    == "9|2026-02-01|2026-02-09|acme")
        }

        @Test func `a token goes into the body of a listing that has one`() async throws {
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    incremental: token
                    attributes: {id: integer}
                    rest:
                      path: /changes
                      method: POST
                      body: {kind: item}
                      records: $.items
                      paging: none
                      incremental: {token: $.token, parameter: state.token, deleted: $.gone}

                """, to: "bmo.yml")
            for rows in ["1,2", "2"] {
                let sync = try await bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                let found = try await server.query("SELECT group_concat(id) FROM (SELECT id FROM Item ORDER BY id)")
                #expect(found == rows)
            }
        }

        @Test func `streams of a connector that POST bring all their pages`() async throws {
            try FileManager.default.createDirectory(
                atPath: folder.appending("source-search"), withIntermediateDirectories: false)
            try folder.write(
                """
                version: 6.0.0
                type: DeclarativeSource
                definitions:
                  requester: {type: HttpRequester, url_base: "\(server.url)/api/", http_method: POST}
                streams:
                  - type: DeclarativeStream
                    name: orders
                    primary_key: id
                    retriever:
                      type: SimpleRetriever
                      requester:
                        $ref: "#/definitions/requester"
                        path: orders/search
                        request_body_json: {filter: {}, kind: "{{ config['kind'] }}"}
                      record_selector: {extractor: {field_path: [items]}}
                      paginator:
                        type: DefaultPaginator
                        page_token_option: {type: RequestOption, inject_into: body_json, field_name: page}
                        page_size_option: {type: RequestOption, inject_into: body_json, field_name: per_page}
                        pagination_strategy: {type: PageIncrement, page_size: 5, start_from_page: 1}
                    schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: integer}, total: {type: string}}}}
                  - type: DeclarativeStream
                    name: parts
                    primary_key: sku
                    retriever:
                      type: SimpleRetriever
                      requester: {$ref: "#/definitions/requester", path: parts/list}
                      record_selector: {extractor: {field_path: [data]}}
                      paginator:
                        type: DefaultPaginator
                        page_token_option: {type: RequestOption, inject_into: body_json, field_path: [pagination, offset]}
                        page_size_option: {type: RequestOption, inject_into: body_json, field_path: [pagination, limit]}
                        pagination_strategy: {type: OffsetIncrement, page_size: 6}
                    schema_loader: {type: InlineSchemaLoader, schema: {properties: {sku: {type: string}, stock: {type: integer}}}}
                  - type: DeclarativeStream
                    name: tickets
                    primary_key: ticket_id
                    retriever:
                      type: SimpleRetriever
                      requester: {$ref: "#/definitions/requester", path: tickets/query}
                      record_selector: {extractor: {field_path: [results]}}
                      paginator:
                        type: DefaultPaginator
                        page_token_option: {type: RequestOption, inject_into: body_json, field_name: cursor}
                        page_size_option: {type: RequestOption, inject_into: body_json, field_name: limit}
                        pagination_strategy:
                          {type: CursorPagination, cursor_value: "{{ response.next_cursor }}", page_size: 5, stop_condition: "{{ not response.next_cursor }}"}
                    schema_loader: {type: InlineSchemaLoader, schema: {properties: {ticket_id: {type: string}, open: {type: boolean}}}}
                spec:
                  connection_specification: {required: [kind], properties: {kind: {type: string}}}
                """, to: "source-search/manifest.yaml")
            let introspect = try await bmo(
                "introspect", "airbyte", "source-search", "--set", "kind=sale", "--report", "-o", "bmo.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            introspect.expectMessages("3 streams: 3 carried, 0 carried with doubts, 0 not carried")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)\n\(text)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)\n\(text)")
            #expect(try await server.query("SELECT count(*), max(id) FROM orders") == "23|23")
            #expect(try await server.query("SELECT count(*), sum(stock) FROM parts") == "17|459")
            #expect(try await server.query("SELECT count(*), sum(open) FROM tickets") == "12|6")
            let last = #"/api/orders/search {"filter": {}, "kind": "sale", "page": 5, "per_page": 5}"#
            #expect(try asked().contains { $0 == last })
        }
    }
}
