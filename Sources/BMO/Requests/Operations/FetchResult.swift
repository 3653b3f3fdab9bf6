public import Importer

/// The effect of a request's remote part on the local database.
public struct FetchResult: Sendable {
    /// A changed property of an object.
    public struct PropertyChange: Sendable, Equatable {
        /// The attribute's or relationship's name.
        public var name: String
        /// The value before; nil for a relationship to many.
        public var old: LocalValue?
        /// The value after; nil for a relationship to many.
        public var new: LocalValue?
    }

    /// An updated object.
    public struct Update: Sendable, Equatable {
        /// The object.
        public var id: ObjectID
        /// Its changed properties.
        public var properties: [PropertyChange]
    }

    /// A record that could not be imported and was quarantined.
    public struct Quarantined: Sendable, Equatable {
        /// The entity it was read as.
        public var entity: String
        /// The reason.
        public var reason: String
        /// Its representation, possibly truncated.
        public var representation: String
    }

    /// Why the remote was not queried.
    public enum Skip: Sendable, Equatable {
        /// The request's type is `never`.
        case never
        /// Local objects exist.
        case localObjects
        /// The last answer is recent enough.
        case fresh
        /// The request's own closure decided against it.
        case custom
    }

    /// What a remote said about the list of a relationship, in the record that the list is nested in or in the answer to
    /// a request for it.
    public struct Related: Sendable, Equatable {
        /// The relationship as the request names it, such as `cities.mayor`.
        public var relationship: String
        /// The object whose list it is; nil for a listing of all objects.
        public var owner: ObjectID?
        /// The metadata, as of the last page or record.
        public var metadata: PageMetadata
    }

    /// Why the remote was not queried; nil when it was.
    public var skipped: Skip?
    /// Objects of all received entities that are new or were stubs.
    public var inserted: [ObjectID] = []
    /// Objects that changed.
    public var updated: [Update] = []
    /// Deleted objects.
    public var deleted: [ObjectID] = []
    /// Quarantined records.
    public var quarantined: [Quarantined] = []
    /// The counts of each entity, including objects beyond the limit of the lists above.
    public var counts: [String: ImportCounts.Entity] = [:]
    /// Whether the lists reached their limit.
    public var isTruncated = false
    /// The number of unchanged objects.
    public var unchangedCount: Int { counts.values.reduce(0) { $0 + $1.unchanged } }
    /// The remote's metadata, as of its last page.
    public var metadata = PageMetadata()
    /// The remote's metadata of relationships: of lists nested in records, and of the included lists that were fetched
    /// along; each list once, in the order in which they came.
    public var related: [Related] = []
    /// The number of imported pages.
    public var pageCount = 0
    /// Whether everything requested was received; false for pages up to a limit.
    public var isComplete = false
    /// Warnings for the user.
    public var warnings: [String] = []
    /// The objects that match now, where the request asked for them.
    public var objects: [LocalObject]?
    /// What your program said about the request.
    public var userInfo: UserInfo?

    /// Returns what the remote said about the list of an object; nil for nothing.
    ///
    /// ```swift
    /// let total = result.metadata(of: "comments", in: post.id)?.total
    /// ```
    ///
    /// - Parameters:
    ///   - relationship: The relationship as the request names it, such as `comments` or `comments.replies`.
    ///   - owner: The object whose list it is.
    public func metadata(of relationship: String, in owner: ObjectID) -> PageMetadata? {
        related.first { $0.owner == owner && $0.relationship == relationship }?.metadata
    }

    /// Whether anything changed.
    public var hasChanges: Bool {
        counts.values.contains { $0.inserted + $0.updated + $0.deleted + $0.relinked + $0.stubs > 0 }
    }
}
