/// How a scan requests only the changes since the previous one.
public enum Incremental: Sendable, Equatable {
    /// By a token that the bridge returns at the end of a scan: an ETag, a delta link, or file times.
    case token
    /// By the watermark of an attribute, minus a lookback.
    ///
    /// The attribute is a timestamp, a date or an integer. The lookback is in seconds for a timestamp or date, and a
    /// difference for an integer.
    case field(attribute: String, lookback: Int64)
}
