extension ConfigValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }

    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A list.
    public init(arrayLiteral elements: ConfigValue...) { self = .array(elements) }

    /// Members in the order of the literal.
    public init(dictionaryLiteral elements: (String, ConfigValue)...) {
        self = .object(elements.map { (key: $0.0, value: $0.1) })
    }

    /// Null.
    public init(nilLiteral: ()) { self = .null }
}
