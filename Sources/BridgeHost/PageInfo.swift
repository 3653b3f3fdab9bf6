public import RecordBatch

/// What one call of a fetch brought.
public struct FetchedBatch: Sendable {
    /// The records; nil when there were none.
    public var records: RecordBatch?
    /// What the bridge says about them and about the walk.
    public var page: PageInfo
}

/// What a bridge says about a page, without secrets.
public struct PageInfo: Sendable, Equatable {
    /// Where a later fetch continues after this page.
    public var cursor: String?
    /// Whether these records end a page, so that they may be committed.
    public var pageEnd = false
    /// Whether the walk is over.
    public var end = false
    /// With ``end``: whether the walk listed everything that was asked.
    public var complete = false
    /// How many records the API says there are.
    public var total: Int64?
    /// URL or path, for messages.
    public var location: String?
    /// Records that the bridge could not turn into values.
    public var rejected: [RejectedRecord] = []
    /// What the user should know.
    public var warnings: [String] = []
    /// What else the API said: a JSON object's text.
    public var metadata: String?
    /// With ``end``: what a later fetch gets as ``FetchRequest/token``.
    public var token: String?
    /// With ``end``: nothing moved since the token or `since`.
    public var unchanged = false
    /// With ``complete``: whether a record may have moved past the walk, because pages were told apart by position.
    public var positional = false
    /// The objects that the remote says are gone: records, of which the key suffices.
    public var deleted: RecordBatch?
    /// Objects that the walk did not look at.
    public var spared: [SparedObjects] = []
    /// Which of the request's filters the remote applies, by their places.
    public var pushed: [Int] = []

    /// Whether two pages say the same; tombstones count by their number.
    public static func == (left: Self, right: Self) -> Bool {
        left.cursor == right.cursor && left.pageEnd == right.pageEnd && left.end == right.end
            && left.complete == right.complete && left.total == right.total && left.location == right.location
            && left.rejected == right.rejected && left.warnings == right.warnings && left.metadata == right.metadata
            && left.token == right.token && left.unchanged == right.unchanged
            && left.deleted?.count == right.deleted?.count && left.spared == right.spared
            && left.pushed == right.pushed && left.positional == right.positional
    }
}

/// Objects that a walk did not look at, by a remote field of theirs.
public struct SparedObjects: Sendable, Equatable {
    /// The field's path in the remote record, with dots.
    public var field: String
    /// Its value.
    public var value: String
    /// Whether `value` is only how the field's value begins.
    public var isPrefix: Bool
}

/// A record that a bridge could not turn into values.
public struct RejectedRecord: Sendable, Equatable {
    /// Its place on the page.
    public var index: Int?
    /// Why.
    public var reason: String
    /// The record as far as it can be shown.
    public var representation: String
}
