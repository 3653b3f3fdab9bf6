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
