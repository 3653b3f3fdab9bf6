public import RecordBatch

/// The result of one call of a fetch.
public struct FetchedBatch: Sendable {
    /// The records; nil if there were none.
    public var records: RecordBatch?
    /// The bridge's information about the records and the scan.
    public var page: PageInfo
}

/// A bridge's information about a page, redacted.
public struct PageInfo: Sendable, Equatable {
    /// The position after this page, where a later fetch can continue.
    public var cursor: String?
    /// Whether these records complete a page and may be committed.
    public var pageEnd = false
    /// Whether the scan has ended.
    public var end = false
    /// With ``end``: whether the scan listed everything that was requested.
    public var complete = false
    /// The total number of records according to the API.
    public var total: Int64?
    /// The URL or path, for messages.
    public var location: String?
    /// The records that the bridge could not convert.
    public var rejected: [RejectedRecord] = []
    /// Warnings for the user.
    public var warnings: [String] = []
    /// Other information from the API, as the text of a JSON object.
    public var metadata: String?
    /// With ``end``: the `FetchRequest.token` for a later fetch.
    public var token: String?
    /// With ``end``: whether nothing changed since the token or `since`.
    public var unchanged = false
    /// With ``complete``: whether the scan may have missed a record, because its pages are addressed by position.
    public var positional = false
    /// Whether the remote lists some objects again on purpose.
    public var repeatsObjects = false
    /// Whether a listing ends here, and the next records are of another one.
    public var endsListing = false
    /// Whether the records contain only the changed members of their objects.
    public var partial = false
    /// The objects that the remote reports as deleted, as records with at least the key.
    public var deleted: RecordBatch?
    /// The objects that the scan did not visit.
    public var skipped: [SkippedObjects] = []
    /// The indexes of the request's filters that the remote applied.
    public var pushed: [Int] = []

    /// Returns whether two pages are equal; compares only the number of deleted objects.
    public static func == (left: Self, right: Self) -> Bool {
        left.cursor == right.cursor && left.pageEnd == right.pageEnd && left.end == right.end
            && left.complete == right.complete && left.total == right.total && left.location == right.location
            && left.rejected == right.rejected && left.warnings == right.warnings && left.metadata == right.metadata
            && left.token == right.token && left.unchanged == right.unchanged
            && left.deleted?.count == right.deleted?.count && left.skipped == right.skipped
            && left.pushed == right.pushed && left.positional == right.positional && left.partial == right.partial
            && left.repeatsObjects == right.repeatsObjects && left.endsListing == right.endsListing
    }
}

/// The objects that a scan did not visit, selected by a remote field.
public struct SkippedObjects: Sendable, Equatable {
    /// The field's path in the remote record, with dots.
    public var field: String
    /// The field's value.
    public var value: String
    /// Whether `value` is only a prefix of the field's value.
    public var isPrefix: Bool
}

/// A record that a bridge could not convert.
public struct RejectedRecord: Sendable, Equatable {
    /// The record's position on the page.
    public var index: Int?
    /// The reason for the rejection.
    public var reason: String
    /// The record, as far as it can be shown.
    public var representation: String
}
