/// How a scan requests only the changes since the previous one.
public enum Incremental: Sendable, Equatable {
    /// By a token that the bridge returns at the end of a scan: an ETag, a delta link, or file times.
    case token
    /// By the watermark of an attribute, minus a lookback.
    ///
    /// The attribute is a timestamp, a date or an integer. The lookback is in seconds for a timestamp or date, and a
    /// difference for an integer.
    case field(attribute: String, lookback: Int64, order: Order)

    /// How a scan by a watermark gets the changes.
    public enum Order: String, CaseIterable, Sendable {
        /// The bridge asks the remote for them.
        case any
        /// The remote lists the newest first, and the scan ends at what is known.
        case newestFirst = "newest_first"
    }

    /// Whether a scan ends at what is known, without asking the remote for changes only.
    public var endsAtKnown: Bool {
        if case .field(_, _, .newestFirst) = self { true } else { false }
    }
}
