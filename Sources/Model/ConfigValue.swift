/// A value of a configuration's own making: what YAML and JSON can say, with members in order, and references to
/// secrets in place of the secrets.
public indirect enum ConfigValue: Sendable, Equatable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// An integer.
    case int(Int64)
    /// A number that is no 64-bit integer.
    case double(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([ConfigValue])
    /// Members in the order of the file; every key is there once.
    case object([(key: String, value: ConfigValue)])
    /// A secret that is read when it is needed.
    case secret(SecretReference)

    /// The member `key` of an object; nil for other values.
    public subscript(key: String) -> ConfigValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The text of a ``string(_:)``.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer of an ``int(_:)``.
    public var int: Int64? {
        if case .int(let number) = self { number } else { nil }
    }

    /// The bool of a ``bool(_:)``.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of an ``array(_:)``.
    public var array: [ConfigValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an ``object(_:)``.
    public var members: [(key: String, value: ConfigValue)]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Equal values of equal kind; the order of members counts, as it does for a bridge.
    public static func == (left: ConfigValue, right: ConfigValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left.elementsEqual(right) { $0 == $1 }
        case (.secret(let left), .secret(let right)): left == right
        default: false
        }
    }
}
