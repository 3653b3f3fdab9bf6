/// A value of a configuration: the values of YAML and JSON, with ordered members, and references to secrets in place of
/// the secrets.
public indirect enum ConfigValue: Sendable, Equatable {
    /// No value.
    case null
    /// True or false.
    case bool(Bool)
    /// An integer.
    case int(Int64)
    /// A number that is not a 64-bit integer.
    case double(Double)
    /// A number as its exact text in JSON's notation, where an integer or a double would be written otherwise: `1.10`.
    case decimal(String)
    /// A text.
    case string(String)
    /// A list.
    case array([ConfigValue])
    /// Members in the order of the file, with unique keys.
    case object([(key: String, value: ConfigValue)])
    /// A secret, which is read when needed.
    case secret(SecretReference)

    /// The member `key` of an object; nil for other kinds.
    public subscript(key: String) -> ConfigValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text of a ``string(_:)``; nil for other kinds.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer of an ``int(_:)``; nil for other kinds.
    public var int: Int64? {
        if case .int(let number) = self { number } else { nil }
    }

    /// The Boolean of a ``bool(_:)``; nil for other kinds.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of an ``array(_:)``; nil for other kinds.
    public var array: [ConfigValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an ``object(_:)``; nil for other kinds.
    public var members: [(key: String, value: ConfigValue)]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Returns whether two values have the same kind and content.
    ///
    /// The order of members counts, as it does for a bridge.
    public static func == (left: ConfigValue, right: ConfigValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left.elementsEqual(right) { $0 == $1 }
        case (.secret(let left), .secret(let right)): left == right
        default: false
        }
    }
}
