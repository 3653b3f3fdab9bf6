/// A comparison operator; the raw value is its notation.
///
/// Longer notations come first, as `<=` is not `<` with a value that begins with `=`.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// The values differ.
    case notEqual = "!="
    /// The left value is smaller or equal.
    case atMost = "<="
    /// The left value is larger or equal.
    case atLeast = ">="
    /// The values are equal.
    case equal = "="
    /// The left value is smaller.
    case less = "<"
    /// The left value is larger.
    case greater = ">"
    /// SQL's LIKE: `%` matches any text, `_` one character; ASCII letters match regardless of case.
    case like = "~"
}
