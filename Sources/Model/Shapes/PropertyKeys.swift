/// An attribute.
enum AttributeKeys {
    static let type = Key<Part>(
        "type", ["$ref": "#/$defs/type"],
        missing: "add one of: \(AttributeType.allCases.map(\.rawValue).sorted().joined(separator: ", "))")
    static let from = Key<Part>(
        "from",
        [
            "description":
                "A dot path into the remote record, or several, whose values join or first combines; default: the attribute's name",
            "anyOf": [
                ["type": "string", "minLength": 1],
                ["type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1]],
            ],
        ])
    static let constant = Key<Part>("constant", ["description": "The same value for every object"])
    static let transform = Key<Part>(
        "transform",
        [
            "description": "What is done to the remote value before its type is read",
            "anyOf": [
                ["$ref": "#/$defs/transformer"], ["type": "array", "items": ["$ref": "#/$defs/transformer"]],
            ],
        ])
    static let renamedFrom = Key<String>.renamedFrom
    static let absent = Key<AbsentRule>.absent
    static let merge = Key<Part>("merge", CodeKeys.shape.schema)
    static let write = Key<Part>("write", WriteKeys.schema(attributeForms))

    /// The keys that a constant excludes.
    static let notOfConstants: [any DescribedKey] = [from, transform, absent]
    static let attributeForms: [WriteRule.Form] = [.text, .number]

    static let shape = Shape(
        nil, [type, from, constant, transform, renamedFrom, absent, merge, write],
        rules: [
            (
                "dependentSchemas",
                ["constant": ["properties": .object(notOfConstants.map { ($0.name, false) })]]
            )
        ])

    /// The definition of an attribute.
    static let schema: ConfigValue = [
        "description": "A column: its type, or a mapping that says more",
        "anyOf": [["$ref": "#/$defs/type"], shape.schema],
    ]
}

/// A relationship.
enum RelationshipKeys {
    static let to = Key<String>.text("to", "The entity, for at most one object")
    static let many = Key<String>.text("many", "The entity, for any number of objects")
    static let from = Key<RemotePath>.path(
        "from", "A dot path into the remote record; default: the relationship's name")
    static let inverse = Key<String>(
        "inverse", ["description": "The other entity's relationship that leads back", "type": "string"])
    static let merge = Key<Part>(
        "merge",
        [
            "description": "What a reply's list does to the existing links",
            "anyOf": [
                ["enum": .array(Relationship.Merge.allCases.map { .string($0.rawValue) })], MergeKeys.shape.schema,
            ], "default": "replace",
        ])
    static let orphans = Key<Relationship.Orphans>.choice(
        "orphans", "What happens to objects that a new list lacks and that nothing else refers to", usual: .keep)
    static let ordered = Key<Bool>.flag("ordered", "Whether the order of a list matters", usual: true)
    static let nullValues = Key<Part>(
        "null_values",
        [
            "description": "Remote values that name no object, such as 0 or an empty text",
            "anyOf": Definitions.scalars,
        ])
    static let renamedFrom = Key<String>.renamedFrom
    static let absent = Key<AbsentRule>.absent
    static let table = Key<String>(
        "table", ["description": "The name of the link table of a to-many", "$ref": "#/$defs/name"])
    static let columns = Key<Names>(
        "columns",
        [
            "description": "The columns of this entity and of the target in the link table",
            "type": "array", "items": ["$ref": "#/$defs/name"], "minItems": 2, "maxItems": 2,
        ])
    static let column = Key<Names>.names(
        "column", "The column of a to-one, or the columns, one per attribute of the target's key")
    static let write = Key<Part>("write", WriteKeys.schema(relationshipForms))
    static let metadata = Key<Part>(
        "metadata",
        [
            "description": "What a record says about its list: names, each with a dot path into the record",
            "type": "object", "minProperties": 1, "maxProperties": .int(Int64(maxMetadata)),
            "propertyNames": ["pattern": "^[A-Za-z_][A-Za-z0-9_]*$"],
            "additionalProperties": ["type": "string", "minLength": 1],
        ])
    /// The maximum number of values of ``metadata``.
    static let maxMetadata = 16

    static let relationshipForms: [WriteRule.Form] = [.key, .object]
    private static let ofMany: [any DescribedKey] = [merge, orphans, ordered, table, columns, metadata]

    static let shape = Shape(
        "A reference to another entity",
        [
            to, many, from, inverse, merge, orphans, ordered, nullValues, renamedFrom, absent, table, columns, column,
            write, metadata,
        ],
        rules: [
            ("oneOf", [["required": [.string(to.name)]], ["required": [.string(many.name)]]]),
            (
                "dependentRequired",
                .object(
                    ofMany.map { ($0.name, .array([.string(many.name)])) }
                        + [(column.name, .array([.string(to.name)]))])
            ),
        ])
}

/// The mapping `merge` of a relationship.
enum MergeKeys {
    static let window = Key<String>.text(
        "window", "An attribute of the target", missing: "name an attribute of the target")

    static let shape = Shape("Replaces what lies between the list's least and greatest value of an attribute", [window])
}

/// A mapping that names code of the program.
enum CodeKeys {
    static let name = Key<String>.text("code", "The name of code that the program brings")

    static let shape = Shape(
        "Code of the program, by its name", [name], rules: [("required", .array([.string(name.name)]))])
}

/// The mapping `write` of an attribute or a relationship.
enum WriteKeys {
    static let when = Key<Part>("when", ["description": "In a new object only", "const": createOnly])
    static let to = Key<RemotePath>.path("to", "A dot path; default: the path of from")

    /// The value of ``when``, which may stand in place of the mapping.
    private static let createOnly = ConfigValue.string(WriteRule.Permission.createOnly.rawValue)

    static func form(_ forms: [WriteRule.Form]) -> Key<WriteRule.Form> {
        Key("as", ["description": "What it is sent as", "enum": .array(forms.map { .string($0.rawValue) })])
    }

    static func shape(_ forms: [WriteRule.Form]) -> Shape { Shape(nil, [when, to, form(forms)]) }

    static func schema(_ forms: [WriteRule.Form]) -> ConfigValue {
        [
            "description": "Whether and how it is sent to the remote",
            "anyOf": [["type": "boolean"], ["const": createOnly], shape(forms).schema],
        ]
    }
}

/// A condition of a matcher.
enum ConditionKeys {
    static let has = Key<RemotePath>.path("has")
    static let lacks = Key<RemotePath>.path("lacks")
    static let property = Key<RemotePath>.path("property")
    static let equals = Key<Names>(
        "equals", ["description": "The value, or a list of them", "anyOf": Definitions.scalars])
    static let matches = Key<String>.text("matches", "The expression")

    /// The keys of all kinds of condition.
    static let shape = Shape(nil, [has, lacks, property, equals, matches, CodeKeys.name])

    private static func kind(_ description: String, _ keys: [any DescribedKey]) -> ConfigValue {
        Shape(description, keys, rules: [("required", .array(keys.map { .string($0.name) }))]).schema
    }

    private static let condition: ConfigValue = [
        "anyOf": [
            kind("The property exists and is not null", [has]), kind("The property is missing or null", [lacks]),
            kind("The property is one of these values", [property, equals]),
            kind("The property's text matches a POSIX extended regular expression", [property, matches]),
            kind("The program's matcher of this name accepts the record", [CodeKeys.name]),
        ]
    ]

    /// The definition of a matcher.
    static let schema: ConfigValue = [
        "description": "What a record must look like: a condition, or a list, all of which must hold",
        "anyOf": [condition, ["type": "array", "items": condition, "minItems": 1]],
    ]
}
