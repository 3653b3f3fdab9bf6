import Model
import Testing

@Suite struct PluginSchemaTests {
    private func load(_ options: String, _ schema: String) throws(ConfigurationErrors) -> ConfigValue {
        try ConfigurationFile.load(
            text: "version: 1\nbridges: {a: {plugin: p, options: \(options)}}\nentities:\n", path: "bmo.yml",
            plugins: [PluginSchema(name: "p", optionsSchema: schema, entitySchema: "")]
        ).bridges[0].options
    }

    private func message(_ options: String, _ schema: String) throws -> String {
        let errors = try #require(throws: ConfigurationErrors.self) { try load(options, schema) }
        return errors.description.replacing("in options of bridge \"a\" ", with: "")
            .replacing(#/bmo.yml:2:\d+: error: /#, with: "")
    }

    @Test(arguments: [
        ("integer", "1", true), ("integer", "1.0", true), ("integer", "1.5", false), ("integer", "\"1\"", false),
        ("integer", "0x1F", true), ("integer", "99999999999999999999", false), ("number", "1.5", true),
        ("number", ".inf", false), ("boolean", "true", true), ("boolean", "yes", false), ("null", "~", true),
        ("string", "1", true), ("string", "~", false), ("string", "''", true), ("array", "[1]", true),
        ("array", "1", false), ("object", "{}", true), ("string", "{env: A}", true), ("integer", "{env: A}", false),
    ])
    func `a type takes its values`(_ type: String, _ value: String, _ fits: Bool) {
        let schema = #"{"properties": {"x": {"type": "\#(type)"}}}"#
        #expect(((try? load("{x: \(value)}", schema)) != nil) == fits)
    }

    @Test(arguments: [
        (#"{"minimum": 2, "maximum": 3}"#, "1", "\"x\" must be at least 2"),
        (#"{"exclusiveMinimum": 1.5}"#, "1.5", "\"x\" must be more than 1.5"),
        (#"{"exclusiveMaximum": 2}"#, "2", "\"x\" must be less than 2"),
        (#"{"minLength": 3}"#, "ab", "\"x\" has 2 characters, must have at least 3"),
        (#"{"maxLength": 1}"#, "äö", "\"x\" has 2 characters, must have at most 1"),
        (#"{"maxItems": 1}"#, "[1, 2]", "\"x\" has 2 elements, must have at most 1"),
        (#"{"const": "a"}"#, "b", "\"x\" cannot be \"b\"; valid: a"),
        (#"{"enum": ["a", 1, null]}"#, "b", "\"x\" cannot be \"b\"; valid: 1, a, null"),
        (#"{"type": ["integer", "array"]}"#, "b", "\"x\" must be an integer or a list, not text"),
        (#"{"type": "number"}"#, "1e400", "\"x\" must be a number, not a number beyond 1.7e308"),
        (#"{"items": {"type": "integer"}}"#, "[1, b]", "\"x[1]\" must be an integer, not text"),
        (
            #"{"items": {"type": "string"}}"#, "[a, NULL]",
            "\"x[1]\" must be text, not empty; write a value; a text such as NULL or ~ needs quotes"
        ),
        ("false", "b", "\"x\" is not allowed; remove it"),
        (
            #"{"oneOf": [{"type": "integer"}, {"type": "array"}]}"#, "b", "\"x\" must be an integer or a list, not text"
        ),
        (
            #"{"oneOf": [{"type": "integer"}, {"minimum": 0}]}"#, "1",
            "\"x\" fits 2 mutually exclusive alternatives"
        ),
    ])
    func `a bound is reported in words`(_ schema: String, _ value: String, _ expected: String) throws {
        let actual = try message("{x: \(value)}", #"{"properties": {"x": \#(schema)}}"#)
        #expect(actual == expected)
    }

    @Test(
        arguments: [
            ("007", "007"), ("1.10", .decimal("1.10")), ("12345678901234567890", .decimal("12345678901234567890")),
            ("1e5", .decimal("1e5")), (".5", ".5"), ("0x1F", "0x1F"), ("5", 5), ("1.5", 1.5), ("True", true),
            ("'5'", "5"),
        ] as [(String, ConfigValue)])
    func `a number keeps its digits where a text may be, too`(_ written: String, _ expected: ConfigValue) throws {
        let schema = #"{"properties": {"x": {"type": ["string", "number", "boolean"]}}}"#
        #expect(try load("{x: \(written)}", schema) == ["x": expected])
    }

    @Test func `a number that no schema describes has the digits of JSON, and others are numbers`() throws {
        #expect(
            try load("{x: [12345678901234567890, 1.10, 007, 1.5, 0x1F]}", "")
                == ["x": [.decimal("12345678901234567890"), .decimal("1.10"), 7, 1.5, 31]])
        #expect(try load("{x: 1.10}", #"{"properties": {"x": {"type": "number"}}}"#) == ["x": 1.1])
        #expect(try load("{x: 1.50}", #"{"properties": {"x": {"enum": [1.5, "auto"]}}}"#) == ["x": 1.5])
    }

    @Test func `what becomes text in a form or in XML is as it is written`() throws {
        func section(_ plugin: String, _ options: String, _ section: String) throws -> ConfigValue {
            try ConfigurationFileTests.load(
                """
                version: 1
                bridges: {api: {plugin: \(plugin), options: \(options)}}
                entities:
                  Note: {bridge: api, key: id, attributes: {id: integer}, \(plugin): \(section)}
                """, plugins: InvalidConfiguration.shippedPlugins()
            ).model.entities[0].section
        }
        let url = #"{url: "https://api.example.com"}"#
        let form = try section("rest", url, "{path: /a, body: {a: 007, b: 1.10, c: [007, 5]}, body_format: form}")
        #expect(form["body"] == ["a": "007", "b": .decimal("1.10"), "c": ["007", 5]])
        let json = try section("rest", url, "{path: /a, body: {a: 007, b: 1.10, c: [007, 5]}, body_format: json}")
        #expect(json["body"] == ["a": 7, "b": .decimal("1.10"), "c": [7, 5]])
        let query = try section("rest", url, "{path: /a, query: {a: [007, 1.10]}, each: {b: [01067]}}")
        #expect(query["query"] == ["a": ["007", .decimal("1.10")]] && query["each"] == ["b": ["01067"]])
        let soap = try section(
            "soap", #"{wsdl: "http://h/?wsdl"}"#, "{operation: List, records: a/b, input: {zip: 01067, to: {n: 5}}}")
        #expect(soap["input"] == ["zip": "01067", "to": ["n": 5]])
    }

    @Test(arguments: [
        ("1", "an object"), ("[]", "an object"), (#"{"type": "text"}"#, "unknown type"), (#"{"type": []}"#, "type"),
        (#"{"properties": []}"#, "properties"), (#"{"required": "a"}"#, "required"),
        (#"{"required": [1]}"#, "required"),
        (#"{"items": 1}"#, "items"), (#"{"enum": []}"#, "enum"), (#"{"minimum": "1"}"#, "minimum"),
        (#"{"minLength": -1}"#, "minLength"), (#"{"minItems": 2, "maxItems": 1}"#, "minItems"),
        (#"{"oneOf": {}}"#, "oneOf"), (##"{"$ref": "#"}"##, "$ref"), (##"{"$ref": "#/$defs/a"}"##, "does not exist"),
        (#"{"$ref": "https://example.com/"}"#, "$ref"), (#"{"$defs": []}"#, "$defs"), ("{", "not JSON"),
        (#"{"a": 1, "a": 2}"#, "duplicate key"), (#"{"a": "\ud800"}"#, "surrogate"), (#"{"a": 01}"#, "number"),
        (String(repeating: "[", count: 100), "levels"), ("{} {}", "more text"), (#"{"a": tru}"#, "expected a value"),
    ])
    func `a faulty schema is the plugins fault`(_ schema: String, _ reason: String) throws {
        let message = try message("{x: 1}", schema)
        #expect(message.contains("the plugin \"p\" has an invalid schema of its options: #"), "\(message)")
        #expect(message.contains(reason), "\(message)")
    }

    @Test func `members of the mapping and of the alternative are both converted`() throws {
        let schema = #"""
            {"properties": {"style": {"type": "string"}, "token": {"type": "string"}}, "oneOf": [
              {"properties": {"style": {"const": "1"}, "size": {"type": "string"}}},
              {"properties": {"style": {"const": "2"}, "size": {"type": "integer"}}}]}
            """#
        #expect(
            try load("{style: \"1\", size: 5, token: 7}", schema) == ["style": "1", "size": "5", "token": "7"])
        #expect(try load("{style: \"2\", size: 5}", schema) == ["style": "2", "size": 5])
    }

    @Test func `a text of the options may be a secret at any depth`() throws {
        let schema = #"{"additionalProperties": false, "properties": {"blocks": {"type": "object"}}}"#
        let given = "{blocks: {Session: {id: {env: A}, more: [{file: p}, {env: 1}], env: {x: 1, env: B}}, env: C}}"
        let expected: ConfigValue = [
            "blocks": [
                "Session": [
                    "id": .secret(.env("A")), "more": [.secret(.file("p")), ["env": 1]], "env": ["x": 1, "env": "B"],
                ], "env": "C",
            ]
        ]
        #expect(try load(given, schema) == expected)
        #expect(try load(given, "") == expected)
    }

    @Test func `a mapping that an alternative describes is not taken for a secret`() throws {
        let schema = #"""
            {"oneOf": [{"properties": {"a": {"type": "object", "properties": {"b": {"type": "object", "properties": {
              "file": {"type": "string"}}}}}}}]}
            """#
        #expect(try load("{a: {b: {file: p}}}", schema) == ["a": ["b": ["file": "p"]]])
    }

    @Test func `a section has secrets only where its schema lets it`() throws {
        let entity = #"""
            {"properties": {"blocks": {"type": "object", "x-secrets": true, "properties": {"id": {"type": "string"}}},
              "body": {"type": "object"}}}
            """#
        let configuration = try ConfigurationFile.load(
            text: """
                version: 1
                bridges: {a: {plugin: p, p: {blocks: {id: {env: A}, Session: {id: [{env: B}]}}}}}
                entities:
                  Note: {bridge: a, key: id, attributes: {id: text}, p: {body: {at: {env: C}}}}
                  Page: {bridge: a, key: id, attributes: {id: text}}
                """, path: "bmo.yml",
            plugins: [PluginSchema(name: "p", optionsSchema: "", entitySchema: entity)], environment: ["B": "x"])
        let note = try #require(configuration.model.entity(named: "Note"))
        #expect(
            note.section["blocks"] == ["id": .secret(.env("A")), "Session": ["id": [.secret(.env("B"))]]])
        #expect(note.section["body"] == ["at": ["env": "C"]])
        #expect(configuration.secretVariables == ["A", "B"])
        #expect(
            configuration.warnings.map(\.message).filter { $0.contains("environment") } == [
                "the environment variable A of entity \"Note\" is not set"
            ])
    }

    @Test func `the header blocks of SOAP may have secrets, those of an entity too`() throws {
        let configuration = try ConfigurationFileTests.load(
            """
            version: 1
            bridges:
              shop:
                plugin: soap
                options: {wsdl: "http://shop.example/?wsdl", soap_headers: {Session: {id: {env: SHOP_SESSION}}}}
            entities:
              Note:
                bridge: shop
                key: id
                attributes: {id: integer}
                soap: {operation: List, records: ListResponse/note, soap_headers: {Key: {"#text": {env: SHOP_KEY}}}}
            """, plugins: InvalidConfiguration.shippedPlugins(), environment: [:])
        #expect(configuration.bridges[0].options["soap_headers"] == ["Session": ["id": .secret(.env("SHOP_SESSION"))]])
        #expect(
            configuration.model.entities[0].section["soap_headers"] == ["Key": ["#text": .secret(.env("SHOP_KEY"))]])
        #expect(
            configuration.warnings.map(\.message).filter { $0.contains("environment") } == [
                "the environment variable SHOP_SESSION of bridge \"shop\" is not set",
                "the environment variable SHOP_KEY of entity \"Note\" is not set",
            ])
    }

    @Test func `a choice near a secret is not shown`() throws {
        let schema = #"""
            {"properties": {"mode": {"enum": ["plain", "signed"]}, "password": {"writeOnly": true}}}
            """#
        let shown = try message("{mode: plan}", schema)
        #expect(shown == "\"mode\" cannot be \"plan\"; did you mean \"plain\"? valid: plain, signed")
        let hidden = try message("{mode: hunter2}", schema)
        #expect(hidden == "\"mode\" has a value that is not valid; valid: plain, signed")
    }
}
