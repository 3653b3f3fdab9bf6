/// The JSON Schema (draft 2020-12) of the configuration file, for editors.
///
/// It covers the structure, and the options and sections of each plugin. References between names are beyond it;
/// ``ConfigurationFile`` checks them. It is stricter in one respect: a text that looks like a number needs quotes.
public enum ConfigurationSchema {
    /// Returns the schema of a file whose bridges use `plugins`.
    ///
    /// A plugin with an invalid schema accepts anything.
    public static func json(plugins: [PluginSchema]) -> String {
        let parts = plugins.sorted { $0.name < $1.name }.map { PluginPart($0) }
        var definitions: [(key: String, value: ConfigValue)] = [
            ("secret", secret), ("bridge", bridge(parts)), ("entity", entity(parts)), ("whole", wholeEntity),
            ("defaults", defaults),
            ("attribute", attribute),
            ("relationship", relationship), ("type", type), ("transformer", transformer), ("name", name),
            ("matcher", matcher), ("parent", parent), ("absent", absent),
            ("incremental", incremental), ("span", span), ("source", source(parts)),
        ]
        for part in parts {
            definitions.append((part.optionsName, part.options))
            definitions.append((part.entityName, part.entity))
        }
        let schema = object(
            "The configuration of bmo: which entity of a database comes from which API",
            [
                ("version", ["description": "The version of this format", "const": 1]),
                (
                    "database",
                    [
                        "description": "The SQLite file, relative to this one", "type": "string", "minLength": 1,
                        "default": "bmo.sqlite",
                    ]
                ),
                (
                    "history",
                    object(
                        "What is kept of past runs, for diff, why and undo",
                        [
                            (
                                "keep",
                                [
                                    "description": "A time, a number of runs, or forever",
                                    "type": "string", "pattern": "^([0-9]+[smhdw]|[0-9]+ runs?|forever)$",
                                    "default": "90d",
                                ]
                            )
                        ], required: [])
                ),
                (
                    "bridges",
                    [
                        "description": "A name of yours for each API, with a plugin and its options",
                        "type": ["object", "null"],
                        "propertyNames": ["pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"],
                        "additionalProperties": ["$ref": "#/$defs/bridge"],
                    ]
                ),
                ("defaults", ["$ref": "#/$defs/defaults"]),
                (
                    "entities",
                    [
                        "description": "The kinds of objects; each becomes a table of its name",
                        "type": ["object", "null"], "propertyNames": ["$ref": "#/$defs/name"],
                        "additionalProperties": ["$ref": "#/$defs/entity"],
                    ]
                ),
            ], required: ["version", "bridges", "entities"],
            more: [
                (
                    "allOf",
                    [
                        [
                            // The defaults may provide an entity's required keys.
                            "if": ["not": ["required": ["defaults"]]],
                            "then": ["properties": ["entities": ["additionalProperties": ["$ref": "#/$defs/whole"]]]],
                        ]
                    ]
                )
            ])
        let head: [(key: String, value: ConfigValue)] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"), ("title", "bmo configuration"),
        ]
        let whole = ConfigValue.object(head + (schema.members ?? []) + [("$defs", .object(definitions))])
        return describing(whole, by: whole).json + "\n"
    }

    /// Copies the descriptions of referenced schemas next to the references, where editors show them.
    private static func describing(_ value: ConfigValue, by whole: ConfigValue) -> ConfigValue {
        switch value {
        case .array(let elements): return .array(elements.map { describing($0, by: whole) })
        case .object(let members):
            return .object(
                members.map { key, value in
                    let value = describing(value, by: whole)
                    guard key == "properties", let properties = value.members else { return (key, value) }
                    let described = properties.map { name, property -> (key: String, value: ConfigValue) in
                        guard property["description"] == nil, let reference = property["$ref"]?.string,
                            let text = target(of: reference, in: whole)?["description"]
                        else { return (name, property) }
                        return (name, .object([("description", text)] + (property.members ?? [])))
                    }
                    return (key, .object(described))
                })
        default: return value
        }
    }

    /// Returns the schema at `#/$defs/NAME/...`.
    private static func target(of reference: String, in whole: ConfigValue) -> ConfigValue? {
        reference.dropFirst(2).split(separator: "/").reduce(whole) { value, name in value?[String(name)] }
    }

    private static let name: ConfigValue = [
        "description": "Letters, digits and _; not beginning with bmo_ or sqlite_",
        "type": "string",
        "pattern": "^(?![Bb][Mm][Oo]_|[Ss][Qq][Ll][Ii][Tt][Ee]_)[A-Za-z_][A-Za-z0-9_]*$",
    ]

    private static let secret = exactlyOne(
        "Where a secret is; the secret itself is never written here",
        [
            (
                "env",
                [
                    "description": "The name of an environment variable", "type": "string",
                    "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                ]
            ),
            ("file", ["description": "A file, relative to this one", "type": "string", "minLength": 1]),
        ])

    private static func bridge(_ parts: [PluginPart]) -> ConfigValue {
        let plugin: ConfigValue = [
            "description": "A plugin, as \"bmo plugins\" lists it", "enum": .array(parts.map { .string($0.name) }),
        ]
        // An external program: its options are siblings of `isolation: external`.
        let external =
            parts.contains { $0.name == ConfigurationReader.externalPlugin }
            ? ConfigurationReader.externalKeys.map { key -> (key: String, value: ConfigValue) in
                let options = "#/$defs/\(ConfigurationReader.externalPlugin).options"
                return (key, ["$ref": .string("\(options)/properties/\(key)")])
            } : []
        let base = object(
            "An API: a plugin with options",
            external + [
                ("plugin", parts.isEmpty ? ["type": "string"] : plugin),
                ("options", ["description": "The plugin's own options", "type": ["object", "null"]]),
                (
                    "isolation",
                    [
                        "description":
                            "Where it runs; default: process, but for what comes with bmo; child_process is process",
                        "enum": .array(BridgeConfiguration.Isolation.names.map { .string($0) }),
                    ]
                ),
                (
                    "memory",
                    [
                        "description": "How much memory its process may have, such as 512 MiB", "type": "string",
                        "pattern": "^[0-9]+ ?(MiB|GiB)$",
                    ]
                ),
                ("absent", ["$ref": "#/$defs/absent"]),
                ("retry_for", ["$ref": "#/$defs/span"]),
            ], required: [])
        let kinds: ConfigValue = [
            ["required": ["plugin"]],
            ["properties": ["isolation": ["const": "external"]], "required": ["isolation", "command"]],
        ]
        let conditions: [ConfigValue] = parts.map { part in
            let then: ConfigValue = [
                "properties": [
                    "options": [
                        "description": .string("The options of \(part.name)"),
                        "$ref": .string("#/$defs/\(part.optionsName)"),
                    ]
                ],
                "required": part.needsOptions ? ["options"] : [],
            ]
            return [
                "if": ["properties": ["plugin": ["const": .string(part.name)]], "required": ["plugin"]], "then": then,
            ]
        }
        return .object(
            (base.members ?? []) + [("anyOf", kinds)] + (parts.isEmpty ? [] : [("allOf", .array(conditions))]))
    }

    private static let type: ConfigValue = [
        "description": "What the values are", "enum": .array(AttributeType.allCases.map { .string($0.rawValue) }),
    ]

    private static let attribute: ConfigValue = [
        "description": "A column: its type, or a mapping that says more",
        "anyOf": [
            ["$ref": "#/$defs/type"],
            object(
                nil,
                [
                    ("type", ["$ref": "#/$defs/type"]),
                    (
                        "from",
                        [
                            "description":
                                "A dot path into the remote record, or several, whose values join makes one of; default: the attribute's name",
                            "anyOf": [
                                ["type": "string", "minLength": 1],
                                ["type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1]],
                            ],
                        ]
                    ),
                    ("constant", ["description": "The same value for every object"]),
                    (
                        "transform",
                        [
                            "description": "What is done to the remote value before its type is read",
                            "anyOf": [
                                ["$ref": "#/$defs/transformer"],
                                ["type": "array", "items": ["$ref": "#/$defs/transformer"]],
                            ],
                        ]
                    ),
                    ("renamed_from", renamed),
                    ("absent", ["$ref": "#/$defs/absent"]),
                    ("write", writeRule([.text, .number])),
                ], required: ["type"],
                more: [
                    (
                        "dependentSchemas",
                        ["constant": ["properties": ["from": false, "transform": false, "absent": false]]]
                    )
                ]),
        ],
    ]

    private static let absent: ConfigValue = [
        "description":
            "What a listing's record without the member says: null clears, keep leaves, auto clears what the listing is known to bring",
        "enum": [.null, "null", "keep", "auto"], "default": "auto",
    ]

    private static let transformer: ConfigValue = [
        "anyOf": [
            ["enum": ["trim", "lowercase", "uppercase", "empty_as_null", "last_segment"]],
            exactlyOne(
                "A transformer with its argument",
                [
                    ("prefix", ["description": "Puts the text in front", "type": "string", "minLength": 1]),
                    (
                        "strip_prefix",
                        ["description": "Removes the text from the front", "type": "string", "minLength": 1]
                    ),
                    (
                        "extract",
                        [
                            "description": "What the first group of a POSIX extended regular expression fits",
                            "type": "string", "minLength": 1,
                        ]
                    ),
                    ("join", ["description": "Joins the values of a list with this between them", "type": "string"]),
                    (
                        "base",
                        ["description": "Reads an integer in a base", "type": "integer", "minimum": 2, "maximum": 36]
                    ),
                    (
                        "unit",
                        [
                            "description": "The unit of a numeric timestamp",
                            "enum": .array(TimeUnit.allCases.map { .string($0.rawValue) }),
                        ]
                    ),
                    ("format", ["description": "A strftime pattern", "type": "string", "pattern": "%"]),
                    (
                        "map",
                        [
                            "description": "Remote to local values", "type": "object", "minProperties": 1,
                            "additionalProperties": ["type": ["string", "number", "boolean", "null"]],
                        ]
                    ),
                ]),
        ]
    ]

    static func object(
        _ description: String?, _ properties: [(key: String, value: ConfigValue)], required: [String],
        closed: Bool = true, more: [(key: String, value: ConfigValue)] = []
    ) -> ConfigValue {
        var members: [(key: String, value: ConfigValue)] = []
        if let description { members.append(("description", .string(description))) }
        members += [("type", "object"), ("properties", .object(properties))]
        if !required.isEmpty { members.append(("required", .array(required.map { .string($0) }))) }
        if closed { members.append(("additionalProperties", false)) }
        return .object(members + more)
    }

    static func exactlyOne(
        _ description: String, _ properties: [(key: String, value: ConfigValue)]
    ) -> ConfigValue {
        object(description, properties, required: [], more: [("minProperties", 1), ("maxProperties", 1)])
    }
}
