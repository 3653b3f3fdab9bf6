/// A comparison operator; the raw value is its notation.
///
/// Longer notations come first, as `<=` is not `<` with a value that begins with `=`.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case equal = "="
    case less = "<"
    case greater = ">"
    /// SQL's LIKE: `%` matches any text, `_` one character; ASCII letters match regardless of case.
    case like = "~"
}
