/// A condition on a column of local objects: `size>1000`, `name~%land`, `country = null`.
public struct LocalCondition: Sendable, Equatable {
    /// How a column is compared; the raw value is how it is written.
    public enum Comparison: String, Sendable, CaseIterable {
        case notEqual = "!="
        case atMost = "<="
        case atLeast = ">="
        case equal = "="
        case less = "<"
        case greater = ">"
        /// SQL's LIKE: `%` any text, `_` one character.
        case like = "~"
    }

    /// The column's name.
    public var field: String
    /// How it is compared.
    public var comparison: Comparison
    /// What it is compared with; nil is null.
    public var value: String?

    /// A condition.
    public init(field: String, comparison: Comparison, value: String?) {
        self.field = field
        self.comparison = comparison
        self.value = value
    }

    /// Reads `FIELD OPERATOR VALUE`; nil when there is no operator or no field in front of it.
    public init?(_ text: String) {
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        let rest = text.dropFirst(name.count).drop { $0 == " " }
        // The longest operator first: `<=` is no `<` with the value `=`.
        let comparisons = Comparison.allCases.sorted { $0.rawValue.count > $1.rawValue.count }
        guard !name.isEmpty, let comparison = comparisons.first(where: { rest.hasPrefix($0.rawValue) }) else {
            return nil
        }
        let value = String(rest.dropFirst(comparison.rawValue.count).drop { $0 == " " })
        let isNull = value == "null" && (comparison == .equal || comparison == .notEqual)
        self.init(field: String(name), comparison: comparison, value: isNull ? nil : value)
    }
}
