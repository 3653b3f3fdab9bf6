/// A key of a mapping in the configuration, written once: its name, and the JSON Schema of its value.
///
/// `Value` is what the reader decodes from it.
struct Key<Value>: Sendable, DescribedKey {
    let name: String
    /// The JSON Schema of the value, with a description for editors.
    let schema: ConfigValue
    /// The remedy if a required key is missing; nil for an optional key.
    let remedy: String?

    init(_ name: String, _ schema: ConfigValue, missing remedy: String? = nil) {
        self.name = name
        self.schema = schema
        self.remedy = remedy
    }

    /// Creates a key whose value has a definition of its own under `$defs`.
    static func defined(_ name: String, by definition: String) -> Key {
        Key(name, ["$ref": .string("#/$defs/" + definition)])
    }
}

/// A key without the type of its value.
protocol DescribedKey: Sendable {
    var name: String { get }
    var schema: ConfigValue { get }
    var remedy: String? { get }
}

extension Key<String> {
    /// Creates a key for a text that is not empty.
    static func text(_ name: String, _ description: String, missing remedy: String? = nil) -> Key {
        Key(name, ["description": .string(description), "type": "string", "minLength": 1], missing: remedy)
    }

    /// Creates a key for the previous name of a table or column.
    static let renamedFrom = text("renamed_from", "Its previous name: its data is kept")
}

extension Key<RemotePath> {
    /// Creates a key for names joined by dots.
    static func path(_ name: String, _ description: String = "A dot path into the remote record") -> Key {
        Key(name, ["description": .string(description), "type": "string", "minLength": 1])
    }
}

extension Key<Bool> {
    /// Creates a key for true or false.
    static func flag(_ name: String, _ description: String, usual: Bool? = nil) -> Key {
        Key(
            name,
            .object([("description", .string(description)), ("type", "boolean")] + .usual(usual.map { .bool($0) })))
    }
}

extension Key<Int64> {
    /// Creates a key for an integer.
    static func integer(
        _ name: String, _ description: String, in range: ClosedRange<Int64>, usual: Int64? = nil
    ) -> Key {
        var members: [(key: String, value: ConfigValue)] = [
            ("description", .string(description)), ("type", "integer"), ("minimum", .int(range.lowerBound)),
        ]
        if range.upperBound < .max { members.append(("maximum", .int(range.upperBound))) }
        return Key(name, .object(members + .usual(usual.map { .int($0) })))
    }

    /// The valid integers.
    var range: ClosedRange<Int64> { (schema["minimum"]?.int ?? .min)...(schema["maximum"]?.int ?? .max) }
}

extension Key where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// Creates a key for one of the names of an enumeration.
    static func choice(_ name: String, _ description: String, usual: Value? = nil) -> Key {
        let names = Value.allCases.map { ConfigValue.string($0.rawValue) }
        return Key(
            name,
            .object(
                [("description", .string(description)), ("enum", .array(names))]
                    + .usual(usual.map { .string($0.rawValue) })))
    }
}

/// A value with a reader of its own.
enum Part {}

/// A list of names in which a single name needs no brackets.
enum Names {}

extension Key<Names> {
    /// Creates a key for a name or a list of names.
    static func names(_ name: String, _ description: String) -> Key {
        Key(
            name,
            [
                "description": .string(description),
                "anyOf": [
                    ["type": "string", "minLength": 1],
                    [
                        "type": "array", "items": ["type": "string", "minLength": 1], "minItems": 1,
                        "uniqueItems": true,
                    ],
                ],
            ])
    }
}

extension Key<Duration> {
    /// Creates a key for a duration such as `5m`.
    static func span(_ name: String) -> Key { .defined(name, by: "span") }
}

extension [(key: String, value: ConfigValue)] {
    /// Returns the member `default`, or nothing.
    fileprivate static func usual(_ value: ConfigValue?) -> Self { value.map { [("default", $0)] } ?? [] }
}
