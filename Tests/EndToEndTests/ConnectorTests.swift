import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A connector of Airbyte's form becomes a configuration that syncs: pages, a parent, a list, windows and a cursor.
    @Suite struct ConnectorTests: TestWorkspace {
        private static func manifest(_ url: String) -> String {
            """
            version: 6.0.0
            type: DeclarativeSource
            definitions:
              requester:
                type: HttpRequester
                url_base: "\(url)/v1/"
                authenticator:
                  {type: ApiKeyAuthenticator, header: Authorization, api_token: "Key {{ config['api_key'] }}"}
                error_handler:
                  type: DefaultErrorHandler
                  response_filters: [{http_codes: [404], action: IGNORE}]
              boards:
                type: DeclarativeStream
                $parameters: {name: boards}
                primary_key: id
                retriever:
                  type: SimpleRetriever
                  requester: {$ref: "#/definitions/requester", path: "{{ parameters.name }}"}
                  record_selector: {extractor: {field_path: [data, "{{ parameters.name }}"]}}
                  paginator:
                    type: DefaultPaginator
                    page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
                    pagination_strategy: {type: PageIncrement, page_size: 2, start_from_page: 1}
                transformations: [{type: AddFields, fields: [{path: [label], value: "{{ record['label']['text'] }}"}]}]
                schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: string}, label: {type: string}}}}
            streams:
              - "#/definitions/boards"
              - type: DeclarativeStream
                name: cards
                primary_key: [id]
                retriever:
                  type: SimpleRetriever
                  requester:
                    $ref: "#/definitions/requester"
                    path: "boards/{{ stream_partition.board_id }}/cards"
                  record_selector: {extractor: {field_path: []}}
                  partition_router:
                    - type: SubstreamPartitionRouter
                      parent_stream_configs:
                        - {type: ParentStreamConfig, parent_key: id, partition_field: board_id, stream: "#/definitions/boards"}
                    - type: ListPartitionRouter
                      cursor_field: kind
                      values: [bug, task]
                      request_option: {type: RequestOption, inject_into: request_parameter, field_name: kind}
                transformations: [{type: AddFields, fields: [{path: [board], value: "{{ stream_partition['board_id'] }}"}]}]
                schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: string}, done: {type: boolean}}}}
              - type: DeclarativeStream
                name: events
                primary_key: [id]
                incremental_sync:
                  type: DatetimeBasedCursor
                  cursor_field: at
                  datetime_format: "%s"
                  start_datetime: "{{ config['start_date'] }}"
                  end_datetime: "2024-03-01T00:00:00Z"
                  step: P10D
                  cursor_granularity: PT1S
                  start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
                  end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}
                retriever:
                  type: SimpleRetriever
                  requester: {$ref: "#/definitions/requester", path: events}
                  record_selector: {extractor: {field_path: [events]}}
                schema_loader: {type: InlineSchemaLoader, schema: {properties: {id: {type: string}, at: {type: integer}, size: {type: number}}}}
            spec:
              connection_specification:
                required: [api_key, start_date]
                properties:
                  api_key: {type: string, airbyte_secret: true}
                  start_date: {type: string}
            """
        }

        private let server: RemoteWorkspace<RemoteServer>
        var folder: TemporaryFolder { server.folder }
        let environment = ["SHOP_API_KEY": "secret-key"]

        init() async throws {
            server = try await RemoteWorkspace("airbyte-shop.py")
            try FileManager.default.createDirectory(
                atPath: server.folder.appending("source-shop"), withIntermediateDirectories: false)
            try server.folder.write(Self.manifest(server.url), to: "source-shop/manifest.yaml")
        }

        private func asked() throws -> [Substring] {
            try String(contentsOfFile: server.folder.appending("asked"), encoding: .utf8).split(separator: "\n")
        }

        @Test func `a connector becomes a configuration that syncs, and syncs what is new`() async throws {
            let run = try await bmo(
                "introspect", "airbyte", "source-shop", "--set", "start_date=2024-01-01T00:00:00Z", "--report", "-o",
                "bmo.yml")
            #expect(run.exitCode == 0, "\(run)")
            run.expectMessages("3 streams: 3 carried, 0 carried with doubts, 0 not carried")
            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)")

            let first = try await bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            let again = try await bmo("sync", "cards")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try await server.query("SELECT id, label FROM boards ORDER BY id") == "b1|One\nb2|Two\nb3|")
            #expect(
                try await server.query("SELECT id, done, board, of_boards FROM cards ORDER BY id")
                    == "b1bug|0|b1|b1\nb1task|1|b1|b1\nb2bug|0|b2|b2\nb2task|1|b2|b2")
            #expect(
                try await server.query("SELECT id, at, size FROM events ORDER BY id")
                    == "e1|1704153600|1.5\ne2|1705276800|1.5\ne3|1708387200|1.5")
            // From January 1 to March 1, 2024, ten days at a time: each window begins a second after the one before.
            let windows = try asked().filter { $0.hasPrefix("/v1/events") }
            #expect(windows.count == 6, "\(windows)")
            #expect(windows[0].contains(#""from": "1704067200", "to": "1704931199""#), "\(windows[0])")
            #expect(windows[1].contains(#""from": "1704931200""#), "\(windows[1])")

            try server.folder.write("", to: "late")
            let second = try await bmo("sync", "events")
            #expect(second.exitCode == 0, "\(second)")
            let later = try asked().filter { $0.hasPrefix("/v1/events") }.dropFirst(windows.count)
            #expect(later.first?.contains(#""from": "1708387200""#) == true, "it starts at the newest event: \(later)")
            #expect(later.count == 1, "one window is left: \(later)")
            #expect(try await server.query("SELECT count(*), max(at) FROM events") == "4|1708387260")
        }

        @Test func `a wheel is read like a folder`() async throws {
            let zip = try await ProcessRun.run(
                "python3",
                [
                    "-m", "zipfile", "-c", server.folder.appending("airbyte_source_shop-1.0-py3-none-any.whl"),
                    "source-shop",
                ],
                directory: server.folder.path)
            try #require(zip.exitCode == 0, "\(zip)")
            let folder = try await bmo("introspect", "airbyte", "source-shop", "--name", "shop")
            let wheel = try await bmo("introspect", "airbyte", "airbyte_source_shop-1.0-py3-none-any.whl")
            #expect(wheel.exitCode == 0, "\(wheel)")
            #expect(wheel.output.split(separator: "\n").dropFirst() == folder.output.split(separator: "\n").dropFirst())
            #expect(wheel.output.contains("value: {env: SHOP_API_KEY}"))
            #expect(
                wheel.output.contains("start: '{start_date}'"), "an input without a value comes from the environment")
        }

        @Test func `a file that is not a connector is refused with an explanation`() async throws {
            try server.folder.write("not a zip", to: "x.whl")
            try server.folder.write("a: 1", to: "manifest.yaml")
            for (source, message) in [
                ("missing", "missing does not exist; name a manifest.yaml, a connector's folder or its wheel"),
                ("x.whl", "x.whl is not a wheel that can be read"),
                ("manifest.yaml", "is not a declarative connector: it has neither streams nor dynamic_streams"),
            ] {
                let run = try await bmo("introspect", "airbyte", source)
                #expect(run.exitCode != 0)
                run.expectMessages(message)
            }
            let other = try await bmo("introspect", "rest", "http://127.0.0.1:1", "--report")
            other.expectMessages("--set and --report are for airbyte")
        }
    }
}
