/// The schemas of values that several keys share, by their names under `$defs`.
enum Definitions {
    static let name: ConfigValue = [
        "description": "Letters, digits and _; not beginning with bmo_ or sqlite_",
        "type": "string",
        "pattern": "^(?![Bb][Mm][Oo]_|[Ss][Qq][Ll][Ii][Tt][Ee]_)[A-Za-z_][A-Za-z0-9_]*$",
    ]

    static let span: ConfigValue = [
        "description": "A span of time, such as 5m or 7d", "type": "string", "pattern": "^[0-9]+[smhdw]$",
    ]

    static let absent: ConfigValue = [
        "description":
            "What it means if a listed record lacks the member: null clears the value, keep keeps it, auto clears it if the listing is known to contain the member",
        "enum": .array([.null] + AbsentRule.allCases.map { .string($0.rawValue) }), "default": "auto",
    ]

    static let type: ConfigValue = [
        "description": "The type of the values", "enum": .array(AttributeType.allCases.map { .string($0.rawValue) }),
    ]

    static let secret = exactlyOne(
        "Where a secret is; the secret itself is never written here",
        [
            Key<String>(
                "env",
                [
                    "description": "The name of an environment variable", "type": "string",
                    "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
                ]),
            Key<String>.text("file", "A file, relative to this one"),
        ])

    /// A text, a number, or true or false.
    static let scalar: ConfigValue = ["type": ["string", "number", "boolean"]]

    /// A scalar or a list of scalars.
    static let scalars: ConfigValue = [scalar, ["type": "array", "items": scalar, "minItems": 1]]

    /// Returns the schema of a mapping with one of these keys.
    static func exactlyOne(_ description: String, _ keys: [any DescribedKey]) -> ConfigValue {
        Shape(description, keys, rules: [("minProperties", 1), ("maxProperties", 1)]).schema
    }
}

extension Key<AbsentRule> {
    /// The key for what a record without the member says.
    static let absent = defined("absent", by: "absent")
}
