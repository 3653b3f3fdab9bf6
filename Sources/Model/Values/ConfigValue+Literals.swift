extension ConfigValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }

    /// Creates a number.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Creates a list.
    public init(arrayLiteral elements: ConfigValue...) { self = .array(elements) }

    /// Creates an object with its members in the order of the literal.
    public init(dictionaryLiteral elements: (String, ConfigValue)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }

    /// Creates null.
    public init(nilLiteral: ()) { self = .null }
}
