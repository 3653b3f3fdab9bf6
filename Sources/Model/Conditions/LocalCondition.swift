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
    ///
    /// It is nil as well if the value begins with a character of an operator and no space is before it, since `<>` and
    /// `==` are operators elsewhere.
    public init?(_ text: String) {
        guard let (name, comparison, rest) = Self.parts(of: text), !Self.beginsLikeOperator(rest.first) else {
            return nil
        }
        let value = String(rest.drop { $0 == " " })
        let isNull = value == "null" && (comparison == .equal || comparison == .notEqual)
        self.init(field: name, comparison: comparison, value: isNull ? nil : value)
    }

    /// Returns a condition as text.
    package static func text(_ field: String, _ comparison: String, _ value: String) -> String {
        field + comparison + (beginsLikeOperator(value.unicodeScalars.first) ? " " : "") + value
    }

    /// Returns what is to be written in place of a text that is not a condition.
    package static func remedy(for text: String) -> String {
        guard let (_, comparison, rest) = parts(of: text), let first = rest.first, beginsLikeOperator(first) else {
            let valid = Comparison.allCases.map(\.rawValue).joined(separator: " ")
            return "write FIELD OPERATOR VALUE, with one of \(valid)"
        }
        let written = comparison.rawValue + String(rest.prefix { operatorCharacters.contains($0) })
        let space = "a space before a value that begins with \(first)"
        return spellings[written].map { "write \($0) for \(written), or \(space)" } ?? "write \(space)"
    }

    /// Operators of other languages, with those of this one.
    private static let spellings = [
        "<>": "!=", "!==": "!=", "==": "=", "===": "=", "=>": ">=", ">==": ">=", "=<": "<=", "<==": "<=", "=~": "~",
        "~=": "~", "~~": "~",
    ]

    private static let operatorCharacters: Set<Unicode.Scalar> = ["=", "<", ">", "~"]

    private static func beginsLikeOperator(_ first: Unicode.Scalar?) -> Bool {
        first.map { operatorCharacters.contains($0) } ?? false
    }

    /// Returns the field, the operator and what follows it.
    ///
    /// As characters, an operator before a value that begins with a combining mark would be another one.
    private static func parts(
        of text: String
    ) -> (field: String, comparison: Comparison, rest: Substring.UnicodeScalarView)? {
        let scalars = text.unicodeScalars
        let name = scalars.prefix { $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" }
        let rest = scalars[name.endIndex...].drop { $0 == " " }
        guard !name.isEmpty,
            let comparison = Comparison.allCases.first(where: { rest.starts(with: $0.rawValue.unicodeScalars) })
        else { return nil }
        return (String(name), comparison, rest.dropFirst(comparison.rawValue.unicodeScalars.count))
    }
}
