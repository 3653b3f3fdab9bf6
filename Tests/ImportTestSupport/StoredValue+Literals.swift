public import Mapping

extension StoredValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// Creates a text.
    public init(stringLiteral value: String) { self = .text(value) }
}
