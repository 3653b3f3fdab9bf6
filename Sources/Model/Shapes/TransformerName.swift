/// The transformers, with their names in a file.
enum TransformerName: String, CaseIterable {
    case trim, lowercase, uppercase
    case emptyAsNull = "empty_as_null"
    case lastSegment = "last_segment"
    case prefix
    case stripPrefix = "strip_prefix"
    case extract, join, first, base, unit, format, map, code

    var takesArgument: Bool { argument != nil }

    /// The key of the argument; nil for a transformer without one.
    private var argument: (any DescribedKey)? {
        switch self {
        case .trim, .lowercase, .uppercase, .emptyAsNull, .lastSegment, .first: nil
        case .prefix: Key<String>.text(rawValue, "Puts the text in front")
        case .stripPrefix: Key<String>.text(rawValue, "Removes the text from the front")
        case .extract:
            Key<String>.text(rawValue, "What the first group of a POSIX extended regular expression matches")
        case .join:
            Key<Part>(
                rawValue, ["description": "Joins the values of a list with this between them", "type": "string"])
        case .base: Self.baseKey
        case .unit: Key<TimeUnit>.choice(rawValue, "The unit of a numeric timestamp")
        case .format: Key<Part>(rawValue, ["description": "A strftime pattern", "type": "string", "pattern": "%"])
        case .map:
            Key<Part>(
                rawValue,
                [
                    "description": "Remote to local values", "type": "object", "minProperties": 1,
                    "additionalProperties": ["type": ["string", "number", "boolean", "null"]],
                ])
        case .code: CodeKeys.name
        }
    }

    /// The argument of ``base``.
    static let baseKey = Key<Int64>.integer(Self.base.rawValue, "Reads an integer in a base", in: 2...36)

    /// The definition of a transformer.
    static let schema: ConfigValue = [
        "anyOf": [
            ["enum": .array(allCases.filter { !$0.takesArgument }.map { .string($0.rawValue) })],
            Definitions.exactlyOne("A transformer with its argument", allCases.compactMap(\.argument)),
        ]
    ]

    /// The types that the transformer applies to.
    var types: [AttributeType] {
        let texts = AttributeType.allCases.filter { $0 != .json }
        return switch self {
        case .map, .emptyAsNull, .first, .code: AttributeType.allCases
        case .trim, .prefix, .stripPrefix, .lastSegment, .extract, .join: texts
        // Base64 is case-sensitive.
        case .lowercase, .uppercase: texts.filter { $0 != .data }
        case .base: [.integer]
        case .unit, .format: [.timestamp, .date]
        }
    }

    /// Whether the transformer takes a list, so that none can precede it.
    var takesList: Bool { self == .join || self == .first }

    /// Whether the transformer parses a typed value, so that no other transformer can follow it.
    var isLast: Bool { self == .base || self == .unit || self == .format }
}
