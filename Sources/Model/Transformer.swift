/// A step that a remote value passes before its attribute's type is read.
public enum Transformer: Sendable, Equatable {
    /// Removes white space at both ends.
    case trim
    /// Lower case.
    case lowercase
    /// Upper case.
    case uppercase
    /// Puts a text in front.
    case prefix(String)
    /// Removes a text from the front, where it is there.
    case stripPrefix(String)
    /// An empty text becomes null.
    case emptyAsNull
    /// Reads an integer in a base from 2 to 36. Always the last step.
    case base(Int)
    /// The unit of a numeric timestamp. Always the last step.
    case unit(TimeUnit)
    /// Reads a timestamp or date in a strftime(3) pattern. Always the last step.
    case format(String)
    /// Replaces whole values; a value that is not in the list is refused.
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

/// One line of a ``Transformer/map(_:)``.
public struct ValueMapping: Sendable, Equatable {
    /// The remote value; numbers and bools are compared by their JSON text.
    public var remote: String
    /// What takes its place: a scalar.
    public var local: ConfigValue

    /// A line of a map.
    public init(remote: String, local: ConfigValue) {
        self.remote = remote
        self.local = local
    }
}
