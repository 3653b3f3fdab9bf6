/// A condition on a column.
public struct RowCondition: Sendable, Equatable {
    /// A comparison operator.
    public enum Comparison: String, Sendable, CaseIterable {
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case equal = "="
        case less = "<"
        case greater = ">"
        /// SQL's LIKE: `%` matches any text, `_` one character.
        case like = "~"
    }

    /// The field's name.
    public var field: String
    /// The operator.
    public var comparison: Comparison
    /// The value to compare with; nil for null.
    public var value: String?

    /// Creates a condition.
    public init(field: String, comparison: Comparison, value: String?) {
        self.field = field
        self.comparison = comparison
        self.value = value
    }
}
