import Model
import Testing
import TestLiterals

@testable import AirbyteManifest

@Suite
struct StreamTests {
    @Test func `a cursor becomes incremental, since and the parameters of its window`() throws {
        let translated = try Translated(
            stream: """
                    incremental_sync:
                      type: DatetimeBasedCursor
                      cursor_field: updated_at
                      cursor_datetime_formats: ["%Y-%m-%dT%H:%M:%SZ"]
                      datetime_format: "%s"
                      start_datetime: {type: MinMaxDatetime, datetime: "{{ config['start_date'] }}"}
                      end_datetime: "{{ now_utc().strftime('%Y-%m-%dT%H:%M:%SZ') }}"
                      step: P30D
                      cursor_granularity: PT1S
                      lookback_window: P1D
                      start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
                      end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}
                """)
        translated.expect(
            "incremental: {field: updated_at, lookback: '1d'}",
            "since: {start: '2024-01-01T00:00:00Z', format: '%s', window: '30d', gap: '1s'}",
            "query: {from: '{since}', to: '{until}'}")
        #expect(translated.verdict == .carried)
    }

    @Test func `an end before now is kept; a second format, a sum and unread members are doubts`() throws {
        let cursor = """
                incremental_sync:
                  type: DatetimeBasedCursor
                  cursor_field: updated_at
                  datetime_format: "%Y-%m-%dT%H:%M:%S.%_msZ"
                  start_datetime: "2024-01-01T00:00:00Z"
                  end_datetime: "{{ now_utc() - duration('P1D') }}"
                  is_compare_strictly: true
                  lookback_window: PT1H
                  start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
            """
        let translated = try Translated(stream: cursor)
        translated.expect("until: now-1d", "lookback: '1h'", "is_compare_strictly True is not carried")
        #expect(translated.verdict == .doubtful)
        let summed = try Translated(
            stream: cursor,
            requester: "        request_parameters: {next: \"{{ stream_interval.start_time | int + 1 }}\"}")
        #expect(!summed.text.contains("{since}1"))
        let second = try Translated(
            stream: cursor,
            requester: "        request_parameters: {day: \"{{ format_datetime(stream_interval.start_time, '%Y') }}\"}")
        #expect(second.verdict == .notCarried)
    }

    @Test func `a cursor that the API does not know is compared by Airbyte only`() throws {
        let translated = try Translated(
            stream: """
                    incremental_sync:
                      type: DatetimeBasedCursor
                      cursor_field: updated_at
                      datetime_format: "%Y-%m-%d"
                      start_datetime: "2024-01-01"
                      is_client_side_incremental: true
                """)
        translated.expect("# Airbyte compares the cursor updated_at itself")
        #expect(!translated.text.contains("incremental:"))
    }

    @Test func `of several members the first one is taken, and the present time is a note`() throws {
        let translated = try Translated(
            stream: """
                    transformations:
                      - type: AddFields
                        fields:
                          - path: [updated_at]
                            value: "{{ record.get('updated', record.get('created', now_utc())) }}"
                          - {path: [label], value: "{{ record['title'] or record['name'] }}"}
                """)
        translated.expect(
            "updated_at: {type: timestamp, from: [updated, created], transform: [first, empty_as_null]}",
            "label: {type: text, from: [title, name], transform: [first, empty_as_null]}",
            "updated_at is null where a record has none of its members")
        #expect(translated.verdict == .carried)
    }

    @Test func `a parent without a key gets the one to which its children refer`() throws {
        let translated = try Translated(
            retriever: """
                      partition_router:
                        type: SubstreamPartitionRouter
                        parent_stream_configs:
                          - type: ParentStreamConfig
                            parent_key: links
                            partition_field: links
                            stream:
                              type: DeclarativeStream
                              name: countries
                              retriever:
                                type: SimpleRetriever
                                requester: {type: HttpRequester, url_base: "https://api.example", path: /countries}
                                record_selector: {extractor: {field_path: [data]}}
                """, requester: "        path: \"items/{{ stream_partition.links.local }}\"")
        translated.expect(
            "path: '/v1/items/{parent.links_local}'", "links_local: {type: text, from: links.local}",
            "key: links_local  # a guess: its children refer to it by this")
        #expect(!translated.text.contains("    links: text"), "a text cannot hold the object")
        #expect(translated.verdict == .carried)
    }

    @Test func `a list of partitions becomes each`() throws {
        try Translated(
            retriever: """
                      partition_router:
                        type: ListPartitionRouter
                        cursor_field: kind
                        values: [email, sms]
                        request_option: {type: RequestOption, inject_into: request_parameter, field_name: kind}
                """, requester: "        path: \"items/{{ stream_partition.kind }}\""
        ).expect("each: {kind: [email, sms]}", "query: {kind: '{kind}'}", "path: '/v1/items/{kind}'")
    }

    @Test func `a slash of a partition stays one in a path`() throws {
        try Translated(
            retriever: """
                      partition_router:
                        type: ListPartitionRouter
                        cursor_field: repository
                        values: [owner/one, owner/two]
                """, requester: "        path: \"repos/{{ stream_partition.repository }}/issues\""
        ).expect("each: {repository: [owner/one, owner/two]}", "path: '/v1/repos/{+repository}/issues'")
        try Translated(
            retriever: Self.walk.replacing("parent_key: id", with: "parent_key: full_name"),
            requester: "        path: \"repos/{{ stream_partition.user_id }}/issues\""
        ).expect("path: '/v1/repos/{+parent.full_name}/issues'")
    }

    @Test func `what a partition puts into a body stays beside the body of the request`() throws {
        try Translated(
            retriever: """
                      partition_router:
                        type: ListPartitionRouter
                        cursor_field: kind
                        values: [email, sms]
                        request_option: {type: RequestOption, inject_into: body_json, field_path: [filter, kind]}
                """,
            requester: """
                        path: items
                        http_method: POST
                        request_body_json: {filter: {state: open}}
                """
        ).expect("body: {filter: {state: open, kind: '{kind}'}}")
    }

    @Test func `a cursor with fractions of seconds is not compared`() throws {
        let translated = try Translated(
            stream: """
                    incremental_sync:
                      type: DatetimeBasedCursor
                      cursor_field: ts
                      datetime_format: "%s_as_float"
                      start_datetime: "2024-01-01"
                      start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: since}
                """)
        translated.expect("the cursor ts has fractions of seconds")
        #expect(!translated.text.contains("ts: {type: integer") && !translated.text.contains("ts: integer"))
        #expect(translated.verdict == .doubtful)
    }

    private static let walk = """
              partition_router:
                type: SubstreamPartitionRouter
                parent_stream_configs:
                  - type: ParentStreamConfig
                    parent_key: id
                    partition_field: user_id
                    stream: {$ref: "#/definitions/users"}
        """

    @Test func `a parent becomes a relationship, and an entity where it is not a stream`() throws {
        let translated = try Translated(
            stream:
                "    transformations: [{type: AddFields, fields: [{path: [owner], value: \"{{ stream_slice.user_id }}\"}]}]",
            retriever: Self.walk, requester: "        path: \"users/{{ stream_partition['user_id'] }}/items\"")
        translated.expect(
            "parent: of_users", "of_users: {to: users}", "path: '/v1/users/{parent.id}/items'",
            "request_fields: {'@owner': '{parent.id}'}",
            "owner: {type: text, from: '@owner'}", "# Not a stream of the connector: the parent of one.")
        #expect(translated.verdict == .carried)
        #expect(translated.report.streams.map(\.name) == ["items"])
    }

    @Test func `with incremental_dependency only the changed parents are scanned`() throws {
        try Translated(
            retriever: Self.walk + "\n            incremental_dependency: true",
            requester: "        path: \"users/{{ stream_partition['user_id'] }}/items\""
        ).expect("parent: {relationship: of_users, changed: true}  # incremental_dependency")
    }

    @Test func `references by $ref, $parameters and schemas in files are followed`() throws {
        try Translated(
            stream: """
                    $parameters: {field: rows}
                    schema_loader: {type: JsonFileSchemaLoader, file_path: "./source_shop/schemas/{{ parameters['field'] }}.json"}
                """, retriever: "      record_selector: {extractor: {field_path: [\"{{ parameters.field }}\"]}}",
            files: [
                "source_shop/schemas/rows.json":
                    #"{"properties": {"id": {"type": "string"}, "price": {"type": "number"}}}"#
            ]
        ).expect("records: $.rows", "id: text", "price: real")
    }

    @Test func `transformations add, remove and move fields`() throws {
        let translated = try Translated(
            stream: """
                    transformations:
                      - type: AddFields
                        fields:
                          - {path: [city], value: "{{ record['address']['city'] }}"}
                          - {path: [kind], value: order}
                          - {path: [both], value: "{{ record.a }}-{{ record.b }}"}
                      - {type: RemoveFields, field_pointers: [[updated_at]]}
                """)
        translated.expect(
            "city: {type: text, from: address.city}", "kind: {type: text, constant: order}",
            "both: {type: text, from: [a, b], transform: {join: '-'}}", "# the connector removes updated_at")
        #expect(!translated.text.contains("    updated_at:"))
    }

    @Test func `a record filter by a text becomes a part of the path, any other is a doubt`() throws {
        func retriever(_ condition: String) -> String {
            "      record_selector: {extractor: {field_path: [data]}, record_filter: {condition: \"{{ \(condition) }}\"}}"
        }
        try Translated(retriever: retriever("record.type == 'a'")).expect("records: '$.data[?@.type==''a'']'")
        try Translated(retriever: retriever("'a' == record['type']")).expect("records: '$.data[?@.type==''a'']'")
        try Translated(retriever: retriever("record['a-b'] == 'a'")).expect("records: '$.data[?@.a-b==''a'']'")
        for condition in [
            "record['a b'] == 'a'", #"record.a == 'x\\y'"#, "record.get('a', '') == ''", "1 < record.n < 5",
            "record.a == 'x' and record.b == 'y'", "not record.a", "record.a in ['x', 'y']", "record.a.startswith('x')",
            "record.a > day_delta(-30)",
        ] {
            #expect(try Translated(retriever: retriever(condition)).verdict == .doubtful, "\(condition)")
        }
        let counted = try Translated(
            retriever: retriever("record.type == 'a'")
                + """

                      paginator:
                        type: DefaultPaginator
                        page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
                        pagination_strategy: {type: PageIncrement, page_size: 10}
                """)
        #expect(counted.verdict == .doubtful)
        counted.expect("records: $.data\n")
        let other = try Translated(retriever: retriever("record.size > 3"))
        #expect(other.verdict == .doubtful)
        other.expect("# not carried: record_filter {{ record.size > 3 }}")
    }

    @Test(arguments: ["[\"**\", items]", "[\"data*\"]"])
    func `a path of records with a pattern is not carried`(path: String) throws {
        let translated = try Translated(retriever: "      record_selector: {extractor: {field_path: \(path)}}")
        #expect(translated.verdict == .notCarried)
        translated.expect("selects by a pattern")
    }

    @Test func `a stream without a key appends, which is a doubt`() throws {
        let translated = try Translated(
            stream: """
                    primary_key: []
                    schema_loader: {type: InlineSchemaLoader, schema: {properties: {at: {type: string}}}}
                """)
        translated.expect("unique: none")
        #expect(translated.verdict == .doubtful)
    }

    @Test func `dynamic streams that the manifest lists are made, others are named`() throws {
        let translated = try Translated(
            more: """
                dynamic_streams:
                  - type: DynamicDeclarativeStream
                    name: by_kind
                    stream_template:
                      type: DeclarativeStream
                      name: x
                      primary_key: id
                      retriever:
                        type: SimpleRetriever
                        requester: {type: HttpRequester, url_base: "https://api.example", path: x}
                        record_selector: {extractor: {field_path: []}}
                    components_resolver:
                      type: ParametrizedComponentsResolver
                      stream_parameters: {list_of_parameters_for_stream: [{name: cats}, {name: dogs}]}
                      components_mapping:
                        - {type: ComponentMappingDefinition, field_path: [name], value: "{{ components_values.name }}"}
                        - {type: ComponentMappingDefinition, field_path: [retriever, requester, path], value: "pets/{{ components_values.name }}"}
                  - type: DynamicDeclarativeStream
                    name: by_api
                    stream_template: {type: DeclarativeStream, name: x}
                    components_resolver: {type: HttpComponentsResolver}
                """)
        #expect(translated.report.streams.map(\.name) == ["items", "cats", "dogs", "by_api"])
        translated.expect("path: /pets/cats", "path: /pets/dogs", "# by_api: only the API knows which streams exist")
    }

    @Test func `several lists of dynamic streams are combined, and only what exists is replaced`() throws {
        let dynamic: ConfigValue = [
            "stream_template": ["name": "x"],
            "components_resolver": [
                "type": "ConfigComponentsResolver",
                "stream_config": [
                    ["configs_pointer": ["kinds"]],
                    ["configs_pointer": ["places"], "default_values": [["place": "z"]]],
                ],
                "components_mapping": [
                    ["field_path": ["name"], "value": "{{ components_values.kind }}_{{ components_values.place }}"],
                    ["field_path": ["other"], "value": "a"],
                    ["field_path": ["new"], "value": "b", "create_or_update": true],
                ],
            ],
        ]
        let inputs = Inputs(
            nil, set: [("kinds", #"[{"kind": "a"}, {"kind": "b"}]"#), ("places", #"[{"place": "y"}]"#)])
        let streams = try DynamicStreams.streams(of: dynamic, Scope(inputs: inputs))
        #expect(streams.map { $0["name"] } == ["a_y", "a_z", "b_y", "b_z"])
        #expect(streams.nonEmptyAllSatisfy { $0["other"] == nil && $0["new"] == "b" })
    }

    @Test func `a file that is not a manifest is refused with an explanation`() {
        #expect(throws: ManifestFault.self) {
            try Connector.translate(files: ["a/source.py": ""], name: "a", set: [], database: "a", command: "")
        }
        #expect(throws: ManifestFault.self) {
            try Connector.translate(
                files: ["manifest.yaml": "streams: ["], name: "a", set: [], database: "a", command: "")
        }
    }
}
