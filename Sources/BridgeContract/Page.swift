/// The state of a scan after a call of `RecordSource.next(into:)`.
public struct Page {
    /// The cursor from which a later fetch continues after this page; nil if it cannot.
    public var cursor: String?
    /// Whether these records end a page: the host may commit.
    public var isPageEnd: Bool
    /// Whether the scan is over; no more calls follow.
    public var isEnd: Bool
    /// With `isEnd`: the scan listed everything requested, starting at the request's cursor, and the remote's listing was
    /// stable.
    ///
    /// The host treats every object that was not listed as deleted.
    ///
    /// With `since`: everything that changed was listed. With a token: everything that exists was listed, except skipped
    /// objects; a scan that answers a token with changes is never complete.
    public var isComplete: Bool
    /// The number of records according to the API.
    public var total: Int64?
    /// The URL or path, without secrets, for messages.
    public var location: String?
    /// Records that could not be represented; they go to quarantine.
    public var rejected: [Rejected]
    /// Warnings for the user, one sentence each.
    public var warnings: [String]
    /// Further information from the API's reply.
    public var metadata: [String: String]
    /// With `isEnd`: the ``FetchRequest/token`` of a later fetch, which returns what changed since this one.
    public var token: String?
    /// With `isEnd`: the remote reports no change since the token or `since`; such a scan deletes nothing.
    public var isUnchanged = false
    /// The objects that the remote reports as deleted: each in the shape of a record that needs only the key.
    ///
    /// The host deletes them after it has imported the records of the same call.
    public var deleted: [BridgeOptions] = []
    /// Objects that the scan skipped: their absence means nothing, even if `isComplete` is true.
    public var skipped: [Skipped] = []
    /// With `isComplete`: pages were addressed by position, so an insertion or deletion during the scan may have
    /// shifted a record past it.
    ///
    /// The host scans once more, without a token, before it deletes anything. So this also holds for a scan that skipped
    /// what did not change, if an object that it lacks may be there.
    public var isPositional = false
    /// Whether the remote lists some objects again on purpose, such as one that each page begins with. (1.2)
    ///
    /// Otherwise objects that come again in a listing by position may have taken the places of others.
    public var repeatsObjects = false
    /// Whether a listing ends here, and the next records are of another one, which may have the same. (1.2)
    ///
    /// A scan that returns only batches that it returned before counts as endless, unless they are of different listings.
    public var endsListing = false
    /// Whether the records hold only the changed members of their objects: a missing member means nothing then. (1.1)
    ///
    /// In a listing of whole records, a member that other records have and this one lacks is null.
    public var isPartial = false
    /// The indexes of the request's filters that the remote applies.
    public var pushed: [Int] = []

    /// Objects that a scan skipped, selected by one of their remote fields.
    public struct Skipped: Sendable {
        /// The path of the field in the remote record, with dots.
        public var field: String
        /// The field's value, or its prefix.
        public var match: Match

        /// How the field's value is matched.
        public enum Match: Sendable {
            /// The whole value.
            case equals(String)
            /// A prefix of the value.
            case prefix(String)
        }

        /// All objects: the scan listed all it could, and says nothing about the rest.
        public static let everything = Skipped(field: "", .prefix(""))

        /// Creates a selection of the objects whose `field` matches.
        public init(field: String, _ match: Match) {
            self.field = field
            self.match = match
        }
    }

    /// A record that could not be represented.
    public struct Rejected: Sendable {
        /// The record's index in the page, from 0, if known.
        public var index: Int?
        /// Why the record was rejected.
        public var reason: String
        /// The record as the remote sent it, as far as it could be read.
        public var representation: String

        /// Creates a rejected record.
        public init(index: Int?, reason: String, representation: String) {
            self.index = index
            self.reason = reason
            self.representation = representation
        }
    }

    /// Creates the state of a page.
    public init(
        cursor: String? = nil, isPageEnd: Bool, isEnd: Bool, isComplete: Bool = false, total: Int64? = nil,
        location: String? = nil, rejected: [Rejected] = [], warnings: [String] = [], metadata: [String: String] = [:]
    ) {
        self.cursor = cursor
        self.isPageEnd = isPageEnd
        self.isEnd = isEnd
        self.isComplete = isComplete
        self.total = total
        self.location = location
        self.rejected = rejected
        self.warnings = warnings
        self.metadata = metadata
    }

    /// Returns the reply to a watch after a change.
    public static func change() -> Page { Page(isPageEnd: true, isEnd: false) }

    /// Returns the reply to a watch that ended without a change.
    public static func noChange() -> Page {
        var page = Page(isPageEnd: true, isEnd: false)
        page.isUnchanged = true
        return page
    }
}
