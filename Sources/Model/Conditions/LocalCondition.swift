/// A condition on a column of local objects, such as `size>1000`, `name~%land` or `country = null`.
public struct LocalCondition: Sendable, Equatable {
    /// The column's name.
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

    /// Parses `FIELD OPERATOR VALUE`; nil if the operator or the field before it is missing.
    public init?(_ text: String) {
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        let rest = text.dropFirst(name.count).drop { $0 == " " }
        guard !name.isEmpty, let comparison = Comparison.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else {
            return nil
        }
        let value = String(rest.dropFirst(comparison.rawValue.count).drop { $0 == " " })
        let isNull = value == "null" && (comparison == .equal || comparison == .notEqual)
        self.init(field: String(name), comparison: comparison, value: isNull ? nil : value)
    }
}
