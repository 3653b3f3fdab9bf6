import Model
import Testing

@testable import AirbyteManifest

@Suite
struct TransformationTests {
    private static func translated(_ transformations: String..., properties: String = "id: {type: integer}") throws
        -> Translated
    {
        try Translated(
            stream: """
                    schema_loader: {type: InlineSchemaLoader, schema: {properties: {\(properties)}}}
                    transformations:
                \(transformations.map { "      - {\($0)}" }.joined(separator: "\n"))
                """)
    }

    private static func add(_ name: String, _ value: String) -> String {
        "type: AddFields, fields: [{path: [\(name)], value: \"{{ \(value) }}\"}]"
    }

    @Test func `a field that is renamed keeps its value`() throws {
        let translated = try Self.translated(
            Self.add("label", "record['name']"), "type: RemoveFields, field_pointers: [[name]]",
            properties: "id: {type: integer}, name: {type: string}")
        translated.expect("label: {type: text, from: name}", "removes name; another attribute reads it")
        #expect(!translated.text.contains("      name:"))
        #expect(translated.verdict == .carried)
    }

    @Test func `a copy of an object is as json as the object`() throws {
        try Self.translated(Self.add("copy", "record.o"), properties: "id: {type: integer}, o: {type: object}")
            .expect("      o: json", "copy: {type: json, from: o}")
    }

    @Test func `a filter that reads what a transformation writes is not applied to the API's records`() throws {
        func translated(_ first: Bool) throws -> Translated {
            try Translated(
                stream: "    transformations: [{\(Self.add("kind", "record.n"))}]",
                retriever: """
                          record_selector:
                            extractor: {field_path: [data]}
                            record_filter: {condition: "{{ record.kind == 'a' }}"}
                            transform_before_filtering: \(first)
                    """)
        }
        let doubtful = try translated(true)
        doubtful.expect("because a transformation writes what it tests", "records: $.data")
        #expect(doubtful.verdict == .doubtful && !doubtful.text.contains("[?@.kind"))
        try translated(false).expect("[?@.kind==''a'']")
    }

    @Test(arguments: [
        ("record.a ~ '_' ~ record.b", "from: [a, b], transform: {join: _}", nil),
        ("record['a'] + '_' + record['b']", "from: [a, b], transform: {join: _}", nil),
        ("record.a | string + record.b | string", "from: [a, b], transform: {join: ''}", nil),
        ("record.a ~ ''", "from: a", nil),
        ("'x' ~ record.a ~ '-' ~ 5", "from: ['@pk_0', a, '@pk_2'], transform: {join: ''}", "'@pk_0': x, '@pk_2': '-5'"),
    ])
    func `texts that are joined by an operator become a list of paths, also for a key`(
        value: String, expected: String, fields: String?
    ) throws {
        let translated = try Translated(
            stream: "    primary_key: pk\n    transformations: [{\(Self.add("pk", value))}]")
        translated.expect("    key: pk", "pk: {type: text, \(expected)}", "      a: text")
        if let fields { translated.expect("request_fields: {\(fields)}") }
        #expect(translated.verdict == .carried, "\(translated.report.text)")
    }

    @Test func `a key that only Python can make is not carried, unless the API sends one too`() throws {
        func verdict(_ value: String, key: String = "pk") throws -> ConnectorReport.Verdict? {
            try Translated(stream: "    primary_key: \(key)\n    transformations: [{\(Self.add("pk", value))}]").verdict
        }
        #expect(try verdict("record.a | hash('md5')") == .notCarried)
        #expect(try verdict("record.a + record.b") == .notCarried)
        #expect(try verdict("record.pkey | hash('md5')") == .notCarried)
        #expect(try verdict("record.pk + 100") == .doubtful)
        #expect(try verdict("record['pk'] + 100") == .doubtful)
        #expect(try verdict("record.a + record.b", key: "id") == .doubtful)
    }

    @Test func `a member that only an added field reads has a column of its own`() throws {
        try Self.translated(Self.add("m", "record['p']")).expect("m: {type: text, from: p}", "      p: text")
        try Self.translated(
            Self.add("m", "record.p or record.q"),
            properties: "id: {type: integer}, m: {type: string, format: date-time}"
        ).expect("p: {type: timestamp, transform: empty_as_null}", "q: {type: timestamp, transform: empty_as_null}")
        try Self.translated(Self.add("m", "record.o.x")).expect("m: {type: text, from: o.x}", "      o: json")
        let joined = try Translated(
            stream:
                "    transformations: [{type: AddFields, fields: [{path: [m], value: \"{{ record.a }}-{{ record.b }}\"}]}]"
        )
        joined.expect("      a: text", "      b: text")
        let removed = try Self.translated(Self.add("m", "record.p"), "type: RemoveFields, field_pointers: [[p]]")
        #expect(!removed.text.contains("      p:"))
        let known = try Self.translated(
            Self.add("m", "record.n"), properties: "id: {type: integer}, n: {type: integer}")
        #expect(!known.text.contains("n_2"))
    }

    @Test func `a flattened member is read at the top of a record, or else where it was`() throws {
        let flatten = "type: DpathFlattenFields, field_path: [nested, deep]"
        let translated = try Self.translated(
            flatten, Self.add("copy", "record.m"),
            properties:
                "id: {type: integer}, m: {type: string}, at: {type: string, format: date-time}, nested: {type: object}")
        translated.expect(
            "      id: integer", "m: {type: text, from: [m, nested.deep.m], transform: first}",
            "at: {type: timestamp, from: [at, nested.deep.at], transform: [first, empty_as_null]}", "nested: json",
            "copy: {type: text, from: [m, nested.deep.m], transform: first}")
        #expect(translated.verdict == .doubtful)
        try Self.translated(
            flatten + ", key_transformation: {type: KeyTransformation, prefix: x_}",
            properties: "id: {type: integer}, x_m: {type: string}, m: {type: string}"
        ).expect("x_m: {type: text, from: [x_m, nested.deep.m], transform: first}", "      m: text")
    }

    @Test func `an added field can be removed again`() throws {
        let translated = try Self.translated(
            Self.add("at", "record.updated or record.created"), "type: RemoveFields, field_pointers: [[at]]")
        #expect(!translated.text.contains("      at:"))
        #expect(translated.verdict == .carried)
    }

    @Test func `each transformation reads what those before it made`() throws {
        let properties = "id: {type: integer}, a: {type: string}, b: {type: string}"
        let translated = try Self.translated(
            Self.add("old", "record.a"), Self.add("a", "record.b"), Self.add("new", "record.a"),
            Self.add("kind", "'x'"), Self.add("kind2", "record.kind"), properties: properties)
        translated.expect(
            "old: {type: text, from: a}", "new: {type: text, from: b}", "kind2: {type: text, constant: x}")
        #expect(translated.verdict == .carried)
        let lost = try Self.translated(
            "type: RemoveFields, field_pointers: [[a]]", Self.add("new", "record.a"), properties: properties)
        lost.expect("an earlier transformation changes a")
        #expect(lost.verdict == .doubtful)
    }

    @Test func `white space is removed as in the connector`() throws {
        let translated = try Self.translated(
            Self.add("a", "record.t | trim"), Self.add("b", "record['t'].strip()"), Self.add("t", "record.t | trim"),
            Self.add("c", "record.t"), properties: "id: {type: integer}, t: {type: string}")
        translated.expect(
            "a: {type: text, from: t, transform: trim}", "b: {type: text, from: t, transform: trim}",
            "      t: {type: text, transform: trim}", "c: {type: text, from: t, transform: trim}")
        #expect(translated.verdict == .carried)
        #expect(
            try Self.translated(Self.add("n", "record.n | trim"), properties: "id: {type: integer}, n: {type: object}")
                .verdict == .doubtful)
    }

    @Test func `the case of a text is changed as in the connector, with a doubt about null`() throws {
        let translated = try Self.translated(
            Self.add("a", "record.t | lower"), Self.add("b", "record.t | trim | upper"),
            properties: "id: {type: integer}, t: {type: string}")
        translated.expect(
            "a: {type: text, from: t, transform: lowercase}", "b: {type: text, from: t, transform: [trim, uppercase]}",
            "where a record has null, Airbyte has the text none")
        #expect(translated.verdict == .doubtful)
    }

    @Test func `a filter that changes a field's value is applied, or a doubt`() throws {
        for changed in ["record.f | int", "record.get('f', 0) | float", "record.f | list", "record.f.lstrip()"] {
            #expect(try Self.translated(Self.add("n", changed)).verdict == .doubtful, "\(changed)")
        }
        for same in [
            "record.f | string", "record.f | int if record.f else none",
            "record.get('f', record.get('g', now_utc())) | int",
        ] {
            #expect(try Self.translated(Self.add("n", same)).verdict == .carried, "\(same)")
        }
        let filtered = try Translated(
            retriever:
                "      record_selector: {extractor: {field_path: [data]}, record_filter: {condition: \"{{ record.id | string == '5' }}\"}}"
        )
        #expect(filtered.verdict == .doubtful)
    }

    @Test func `a child refers to the field that its parent added`() throws {
        let translated = try Translated(
            retriever: """
                      partition_router:
                        type: SubstreamPartitionRouter
                        parent_stream_configs:
                          - type: ParentStreamConfig
                            parent_key: code
                            partition_field: code
                            stream:
                              type: DeclarativeStream
                              name: places
                              primary_key: id
                              retriever:
                                type: SimpleRetriever
                                requester: {type: HttpRequester, url_base: "https://api.example", path: /places}
                                record_selector: {extractor: {field_path: [data]}}
                              transformations:
                                - {type: AddFields, fields: [{path: [code], value: "{{ record.address.code }}"}]}
                """, requester: "        path: \"items/{{ stream_partition.code }}\"")
        translated.expect("path: '/v1/items/{parent.code}'", "code: {type: text, from: address.code}")
        #expect(!translated.text.contains("code_2"))
    }

    @Test func `empty texts that are removed become null`() throws {
        let translated = try Self.translated(
            "type: RemoveFields, condition: \"{{ property|string == '' }}\", field_pointers: [[\"**\"]]",
            properties: "id: {type: integer}, name: {type: string}")
        translated.expect("name: {type: text, transform: empty_as_null}")
        #expect(translated.verdict == .carried)
        let nested = try Self.translated(
            "type: RemoveFields, condition: \"{{ property|string == '' }}\", field_pointers: [[\"**\"]]",
            properties: "id: {type: integer}, tags: {type: object}")
        nested.expect("empty texts stay inside of columns of the type json")
        #expect(nested.verdict == .doubtful)
    }

    @Test func `a member that is removed inside a column is a doubt`() throws {
        let pointer = "type: RemoveFields, field_pointers: [[address, secret]]"
        let inside = try Self.translated(pointer, properties: "id: {type: integer}, address: {type: object}")
        #expect(inside.verdict == .doubtful)
        inside.expect("RemoveFields address.secret: its column keeps it")
        #expect(try Self.translated(pointer).verdict == .carried)
    }
}
