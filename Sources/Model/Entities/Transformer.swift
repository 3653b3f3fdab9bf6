/// A step that transforms a remote value before its type conversion.
public enum Transformer: Sendable, Equatable {
    /// The last segment of a path or URL, without query and fragment.
    case lastSegment
    /// The match of an expression's first group, or the whole match without one.
    ///
    /// A text that does not match is rejected.
    case extract(RegularExpression)
    /// Joins the values of a list without its nulls.
    ///
    /// Always the first step.
    case join(String)
    /// The first value of a list that is not null.
    case first
    /// Removes white space at both ends.
    case trim
    /// Lower case.
    case lowercase
    /// Upper case.
    case uppercase
    /// Prepends a text.
    case prefix(String)
    /// Removes a prefix if present.
    case stripPrefix(String)
    /// Replaces an empty text by null.
    case emptyAsNull
    /// Parses an integer in a base from 2 to 36.
    ///
    /// Always the last step.
    case base(Int)
    /// The unit of a numeric timestamp. Always the last step.
    case unit(TimeUnit)
    /// Parses a timestamp or date with a strftime(3) pattern.
    ///
    /// Always the last step.
    case format(String)
    /// Calls the program's transformer of this name.
    case code(String)
    /// Replaces whole values; rejects a value that is not in the list.
    case map([ValueMapping])
}

/// The unit of a numeric timestamp.
public enum TimeUnit: String, Sendable, CaseIterable {
    /// Seconds since 1970-01-01T00:00:00Z.
    case seconds
    /// Milliseconds since 1970-01-01T00:00:00Z.
    case milliseconds
    /// Microseconds since 1970-01-01T00:00:00Z.
    case microseconds
}

/// One entry of a ``Transformer/map(_:)``.
public struct ValueMapping: Sendable, Equatable {
    /// The remote value; numbers and Booleans are compared by their JSON text.
    public var remote: String
    /// The replacement, which is a scalar.
    public var local: ConfigValue

    /// Creates an entry of a map.
    public init(remote: String, local: ConfigValue) {
        self.remote = remote
        self.local = local
    }
}
