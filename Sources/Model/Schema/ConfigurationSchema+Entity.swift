extension ConfigurationSchema {
    static func entity(_ parts: [PluginPart]) -> ConfigValue {
        var properties: [(key: String, value: ConfigValue)] = [
            ("bridge", ["description": "The name of a bridge of this file", "type": "string", "minLength": 1]),
            ("key", names("The attribute, or attributes, that identify an object")),
            (
                "unique",
                [
                    "description": "In place of a key: none (every record is an object) or singleton (there is one)",
                    "enum": ["none", "singleton"],
                ]
            ),
            ("extends", ["description": "The super-entity, in whose table the objects lie", "type": "string"]),
            ("when", ["$ref": "#/$defs/matcher"]),
            (
                "attributes",
                [
                    "description": "The columns; auto: those that the records have, as the first sync finds them",
                    "anyOf": [
                        ["const": .string(LearnedAttributes.word)],
                        [
                            "type": ["object", "null"], "propertyNames": ["$ref": "#/$defs/name"],
                            "additionalProperties": ["$ref": "#/$defs/attribute"],
                        ],
                    ],
                ]
            ),
            (
                "relationships",
                [
                    "description": "The references to other entities", "type": ["object", "null"],
                    "propertyNames": ["$ref": "#/$defs/name"],
                    "additionalProperties": ["$ref": "#/$defs/relationship"],
                ]
            ),
            (
                "listing",
                [
                    "description": "none: its objects come inside those of other entities only, and it needs no bridge",
                    "enum": ["none"],
                ]
            ),
            (
                "quarantine_limit",
                [
                    "description": "So many records of one sync may go to quarantine; with more its walk is given up",
                    "type": "integer", "minimum": 1, "default": .int(Int64(Entity.usualQuarantineLimit)),
                ]
            ),
            ("parent", ["$ref": "#/$defs/parent"]),
            ("incremental", ["$ref": "#/$defs/incremental"]),
            ("full_every", ["$ref": "#/$defs/span"]),
            ("retry_for", ["$ref": "#/$defs/span"]),
            ("deletes", deletes),
            ("conflicts", conflicts),
            (
                "sources",
                [
                    "description": "Further bridges behind the entity; each writes its attributes only",
                    "type": ["object", "null"], "additionalProperties": ["$ref": "#/$defs/source"],
                ]
            ),
            (
                "precedence",
                names("The sources, of which the first that brings an attribute wins; main is the entity's")
            ),
            ("extra", ["description": "Keeps unknown fields in the column extra, as JSON", "type": "boolean"]),
            ("absent", ["$ref": "#/$defs/absent"]),
            ("renamed_from", renamed),
        ]
        properties += writeProperties(parts)
        for part in parts { properties.append((part.name, section(of: part))) }
        let base = object("A kind of object", properties, required: [], closed: !parts.isEmpty)
        let forRoots = ["key", "unique", "deletes", "conflicts", "extra", "sources"]
        let isSubentity: ConfigValue = [
            "required": ["extends"],
            "properties": .object(forRoots.map { ($0, false) }),
            "dependentRequired": [
                "parent": ["bridge"], "incremental": ["bridge"],
            ],
        ]
        let forListings = [
            "bridge", "sources", "writable", "read_one", "quarantine_limit", "parent", "incremental", "full_every",
            "retry_for",
        ]
        let withoutListing: ConfigValue = ["properties": .object(forListings.map { ($0, false) })]
        let conditions: [ConfigValue] =
            [
                [
                    "if": ["required": ["extends"]], "then": isSubentity,
                    "else": ["properties": ["extends": false, "when": false]],
                ],
                ["dependentRequired": ["full_every": ["incremental"]]],
                ["if": ["required": ["listing"]], "then": withoutListing],
            ] + onePlugin(parts)
        return .object((base.members ?? []) + [("allOf", .array(conditions))])
    }

    private static func section(of part: PluginPart) -> ConfigValue {
        [
            "description": .string("What a bridge with the plugin \(part.name) is asked for"),
            "$ref": .string("#/$defs/\(part.entityName)"),
        ]
    }

    /// The requirements of a root entity in a file without defaults.
    static let wholeEntity: ConfigValue = [
        "if": ["not": ["required": ["extends"]]],
        "then": [
            "required": ["attributes"],
            "anyOf": [["required": ["bridge"]], ["required": ["listing"]]],
            "properties": [
                "attributes": [
                    "anyOf": [["const": .string(LearnedAttributes.word)], ["type": "object", "minProperties": 1]]
                ]
            ],
            "oneOf": [["required": ["key"]], ["required": ["unique"]]],
        ],
    ]

    /// The schema of `defaults`, which apply to every entity that does not set them.
    static let defaults: ConfigValue = [
        "description": "What every entity says that does not say it itself; sections are put together member by member",
        "type": ["object", "null"],
        "propertyNames": ["not": ["enum": ["extends", "when", "renamed_from", "sources", "unique", "precedence"]]],
    ]

    static func source(_ parts: [PluginPart]) -> ConfigValue {
        var properties: [(key: String, value: ConfigValue)] = [
            ("bridge", ["description": "The name of a bridge of this file", "type": "string", "minLength": 1]),
            (
                "attributes",
                [
                    "description": "The entity's attributes that it brings, or attributes with a mapping of their own",
                    "anyOf": [
                        ["type": "string"], ["type": "array", "items": ["type": "string"]],
                        ["type": "object", "additionalProperties": ["$ref": "#/$defs/attribute"]],
                    ],
                ]
            ),
            (
                "relationships",
                [
                    "description": "The entity's relationships that it brings, or relationships of its own",
                    "anyOf": [
                        ["type": "string"], ["type": "array", "items": ["type": "string"]],
                        ["type": "object", "additionalProperties": ["$ref": "#/$defs/relationship"]],
                    ],
                ]
            ),
            ("parent", ["$ref": "#/$defs/parent"]),
            (
                "each",
                [
                    "description": "One walk for each object of the entity itself",
                    "anyOf": [["type": "boolean"], object(nil, walkOptions, required: [])],
                ]
            ),
            ("incremental", ["$ref": "#/$defs/incremental"]),
            ("full_every", ["$ref": "#/$defs/span"]),
            ("retry_for", ["$ref": "#/$defs/span"]),
            ("absent", ["$ref": "#/$defs/absent"]),
        ]
        for part in parts { properties.append((part.name, section(of: part))) }
        let base = object(
            "A further bridge behind an entity", properties, required: ["bridge"], closed: !parts.isEmpty)
        return .object(
            (base.members ?? []) + [("allOf", .array([["not": ["required": ["parent", "each"]]]] + onePlugin(parts)))])
    }

    /// Excludes several sections in one entity, which has only one bridge.
    private static func onePlugin(_ parts: [PluginPart]) -> [ConfigValue] {
        var pairs: [ConfigValue] = []
        for (index, first) in parts.enumerated() {
            for second in parts[(index + 1)...] {
                pairs.append(["not": ["required": [.string(first.name), .string(second.name)]]])
            }
        }
        return pairs
    }

    static let relationship = object(
        "A reference to another entity",
        [
            ("to", ["description": "The entity, for at most one object", "type": "string", "minLength": 1]),
            ("many", ["description": "The entity, for any number of objects", "type": "string", "minLength": 1]),
            (
                "from",
                [
                    "description": "A dot path into the remote record; default: the relationship's name",
                    "type": "string", "minLength": 1,
                ]
            ),
            ("inverse", ["description": "The other entity's relationship that leads back", "type": "string"]),
            (
                "merge",
                [
                    "description": "What a reply's list does to the objects that are related already",
                    "anyOf": [
                        ["enum": .array(Relationship.Merge.allCases.map { .string($0.rawValue) })],
                        object(
                            "Replaces what lies between the list's least and greatest value of an attribute",
                            [
                                (
                                    "window",
                                    ["description": "An attribute of the target", "type": "string", "minLength": 1]
                                )
                            ],
                            required: ["window"]),
                    ], "default": "replace",
                ]
            ),
            (
                "orphans",
                [
                    "description": "What becomes of objects that a new list leaves behind and nobody else refers to",
                    "enum": .array(Relationship.Orphans.allCases.map { .string($0.rawValue) }), "default": "keep",
                ]
            ),
            (
                "ordered",
                ["description": "Whether the order of a list counts", "type": "boolean", "default": true]
            ),
            (
                "null_values",
                [
                    "description": "Remote values that name no object, such as 0 or an empty text",
                    "anyOf": [scalar, ["type": "array", "items": scalar, "minItems": 1]],
                ]
            ),
            ("renamed_from", renamed),
            ("absent", ["$ref": "#/$defs/absent"]),
            ("table", ["description": "The name of the link table of a to-many", "$ref": "#/$defs/name"]),
            (
                "columns",
                [
                    "description": "The columns of this entity and of the target in the link table",
                    "type": "array", "items": ["$ref": "#/$defs/name"], "minItems": 2, "maxItems": 2,
                ]
            ),
            ("column", names("The column of a to-one, or the columns, one per attribute of the target's key")),
            ("write", writeRule([.key, .object])),
        ], required: [],
        more: [
            ("oneOf", [["required": ["to"]], ["required": ["many"]]]),
            (
                "dependentRequired",
                [
                    "merge": ["many"], "orphans": ["many"], "ordered": ["many"], "column": ["to"], "table": ["many"],
                    "columns": ["many"],
                ]
            ),
        ])

    static let renamed: ConfigValue = [
        "description": "What it was called before: its data is kept", "type": "string", "minLength": 1,
    ]

    static let matcher: ConfigValue = [
        "description": "What a record must look like: a condition, or a list of which all must hold",
        "anyOf": [condition, ["type": "array", "items": condition, "minItems": 1]],
    ]

    private static let path: ConfigValue = [
        "description": "A dot path into the remote record", "type": "string", "minLength": 1,
    ]

    private static let scalar: ConfigValue = ["type": ["string", "number", "boolean"]]

    private static let condition: ConfigValue = [
        "anyOf": [
            object("The property is there and not null", [("has", path)], required: ["has"]),
            object("The property is not there, or null", [("lacks", path)], required: ["lacks"]),
            object(
                "The property is one of these values",
                [
                    ("property", path),
                    (
                        "equals",
                        [
                            "description": "The value, or a list of them",
                            "anyOf": [scalar, ["type": "array", "items": scalar, "minItems": 1]],
                        ]
                    ),
                ], required: ["property", "equals"]),
            object(
                "The property's text fits a POSIX extended regular expression",
                [
                    ("property", path),
                    ("matches", ["description": "The expression", "type": "string", "minLength": 1]),
                ],
                required: ["property", "matches"]),
        ]
    ]

    private static let walkOptions: [(key: String, value: ConfigValue)] = [
        ("where", names("Which objects have a walk: FIELD OPERATOR VALUE; all must hold")),
        (
            "concurrency",
            ["description": "So many walks at a time", "type": "integer", "minimum": 1, "maximum": 64, "default": 4]
        ),
    ]

    static let parent: ConfigValue = [
        "description": "One walk for each object that a relationship to one may lead to",
        "anyOf": [
            ["type": "string", "minLength": 1],
            object(
                nil,
                [("relationship", ["description": "The relationship to the parent", "type": "string", "minLength": 1])]
                    + walkOptions, required: ["relationship"]),
        ],
    ]

    static let span: ConfigValue = [
        "description": "A span of time, such as 5m or 7d", "type": "string", "pattern": "^[0-9]+[smhdw]$",
    ]

    static let incremental: ConfigValue = [
        "description": "Asks only for what changed since the walk before",
        "anyOf": [
            ["const": "token"],
            object(
                nil,
                [
                    (
                        "field",
                        [
                            "description": "The attribute whose newest value is asked for", "type": "string",
                            "minLength": 1,
                        ]
                    ),
                    (
                        "lookback",
                        [
                            "description": "How far before that",
                            "anyOf": [["$ref": "#/$defs/span"], ["type": "integer", "minimum": 0]],
                        ]
                    ),
                ], required: ["field"]),
        ],
    ]

    private static let mode: ConfigValue = [
        "description": "What becomes of objects that the remote no longer has",
        "enum": .array(DeletePolicy.Mode.allCases.map { .string($0.rawValue) }), "default": "hard",
    ]

    static let deletes: ConfigValue = [
        "description": "What becomes of objects that the remote no longer has",
        "anyOf": [
            mode,
            object(
                "What becomes of objects that the remote no longer has",
                [
                    ("mode", mode),
                    (
                        "brake",
                        object(
                            "The most that one walk may delete",
                            [
                                (
                                    "share",
                                    [
                                        "description": "The share of the rows, such as 20%",
                                        "anyOf": [
                                            ["type": "string", "pattern": "^[0-9.]+%$"],
                                            ["type": "number", "minimum": 0, "maximum": 1],
                                        ],
                                    ]
                                ),
                                ("rows", ["description": "So many may always go", "type": "integer", "minimum": 0]),
                            ], required: [])
                    ),
                    ("when", ["$ref": "#/$defs/matcher"]),
                    (
                        "view",
                        [
                            "description": "With mode soft: a view of this name has the rows that are not deleted",
                            "$ref": "#/$defs/name",
                        ]
                    ),
                ], required: []),
        ],
    ]

    static func attributeNames(_ description: String) -> ConfigValue { names(description) }

    private static let conflicts: ConfigValue = [
        "description": "Whose value counts where a column was changed here and on the remote",
        "anyOf": [
            [
                "description": "Whose value counts where a column was changed here and on the remote",
                "enum": ["manual", "remote", "local"], "default": "manual",
            ],
            object(
                "The newer one counts",
                [
                    (
                        "newest",
                        [
                            "description": "The attribute with the time of the last change, a timestamp",
                            "type": "string", "minLength": 1,
                        ]
                    )
                ], required: ["newest"]),
        ],
    ]

    private static func names(_ description: String) -> ConfigValue {
        [
            "description": .string(description),
            "anyOf": [
                ["type": "string", "minLength": 1],
                [
                    "type": "array", "items": ["type": "string", "minLength": 1], "minItems": 1, "uniqueItems": true,
                ],
            ],
        ]
    }
}
