/// How a walk asks only for what changed since the one before.
public enum Incremental: Sendable, Equatable {
    /// The bridge gives back a token of its own with the end of a walk: an ETag, a delta link, times of files.
    case token
    /// The newest value of an attribute is asked for, less a lookback.
    ///
    /// The attribute is a timestamp, a date or an integer. The lookback is in seconds for the first two, and a
    /// difference for an integer.
    case field(attribute: String, lookback: Int64)
}
