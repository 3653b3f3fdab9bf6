public import Mapping

/// The scope of a scan: an entity, its own bridge or a further source, and all objects or those of one parent.
public struct ScanScope: Hashable, Sendable {
    /// The entity's name.
    public var entity: String
    /// The further source's name; empty for the entity's own bridge.
    public var source: String
    /// The parent's key as a JSON array; empty without a parent.
    public var parent: String

    /// Creates a scope.
    public init(entity: String, source: String = "", parent: String = "") {
        self.entity = entity
        self.source = source
        self.parent = parent
    }

    /// Returns whether two scopes are the same; a parent's key is compared by its bytes, as a store compares it.
    public static func == (left: ScanScope, right: ScanScope) -> Bool {
        left.entity == right.entity && left.source == right.source
            && ExactText(left.parent) == ExactText(right.parent)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(source)
        hasher.combine(ExactText(parent))
    }
}

/// The properties of a scan that a page's transaction needs.
public struct ScanTarget: Sendable {
    /// The scan's scope.
    public var scope: ScanScope
    /// The entity's index in the compiled model.
    public var entity: Int
    /// Whether the scan is the entity's own listing: rows that it does not list may have been deleted.
    public var isListing: Bool
    /// The index of the to-one relationship to the parent, and the parent's key.
    public var parent: (relationship: Int, key: [StoredValue])?
    /// The number of the newest edit that the remote had accepted when the scan began; nil if the records show the
    /// current state.
    ///
    /// Records of objects with later edits may be older than these.
    public var acknowledged: Int64?

    /// Creates a target for the scan of an entity.
    public init(
        scope: ScanScope, entity: Int, isListing: Bool = true, parent: (relationship: Int, key: [StoredValue])? = nil,
        acknowledged: Int64? = nil
    ) {
        self.scope = scope
        self.entity = entity
        self.isListing = isListing
        self.parent = parent
        self.acknowledged = acknowledged
    }
}

/// A scan whose page a transaction will have; see `PageTransaction.announce(_:_:)`.
public struct AnnouncedScan: Sendable {
    /// The scan.
    public var target: ScanTarget
    /// Whether its end may save a cursor.
    public var mayLeaveCursor: Bool
    /// Whether its end deletes rows that the listing lacks.
    public var sweeps: Bool

    /// Announces a scan.
    public init(_ target: ScanTarget, mayLeaveCursor: Bool, sweeps: Bool) {
        self.target = target
        self.mayLeaveCursor = mayLeaveCursor
        self.sweeps = sweeps
    }
}

/// The position of a scan after a page.
public struct ScanProgress: Sendable, Equatable {
    /// The bridge's cursor after the page.
    public var cursor: String
    /// The number of completed pages.
    public var page: Int
    /// A text that identifies the request: a cursor is valid only for the same request.
    public var request: String
    /// The watermark of the pages so far.
    public var newest: Watermark?
    /// The time at which the scan began its first page, as ISO 8601; empty if unknown.
    public var began: String

    /// When a position was saved from which a scan resumes: at most an hour ago.
    ///
    /// A time of the future is that of a clock that was ahead, so that it says nothing; the clocks of two hosts may differ
    /// by five minutes.
    package static var currentTimes: ClosedRange<String> {
        Clock.text(secondsAgo: 3600)...Clock.text(after: .seconds(300))
    }

    /// Returns whether a scan resumes from a position that was saved at a time.
    package static func isCurrent(saved: String) -> Bool { currentTimes.contains(saved) }

    /// Creates the position of a scan.
    public init(cursor: String, page: Int, request: String, newest: Watermark? = nil, began: String = "") {
        self.cursor = cursor
        self.page = page
        self.request = request
        self.newest = newest
        self.began = began
    }
}

/// The rows that a scan has listed.
public struct ListedRows: Sendable, Equatable {
    /// The number of rows, each counted as often as it was listed.
    public var count: Int
    /// The number of distinct rows; nil if there are too many to count.
    public var distinct: Int?
    /// The number of rows that appeared more than once with different values.
    public var repeated: Int
    /// How often a row appeared again on the same page.
    public var repeatedOnPage: Int

    /// Creates the counts.
    public init(count: Int, distinct: Int?, repeated: Int, repeatedOnPage: Int = 0) {
        self.count = count
        self.distinct = distinct
        self.repeated = repeated
        self.repeatedOnPage = repeatedOnPage
    }
}

/// The state that a completed scan leaves for the next one, which then need not list everything.
public struct ScanCursor: Sendable, Equatable {
    /// The bridge's own token.
    public var token: String?
    /// The watermark.
    public var newest: Watermark?
    /// A text that identifies the request: a cursor is valid only for the same request.
    ///
    /// It may end with the state of the parent whose children the scan listed; see ``parentState``.
    public var request: String
    /// The time of the last full scan, as ISO 8601.
    public var fullAt: String

    /// Creates a cursor.
    public init(token: String?, newest: Watermark?, request: String, fullAt: String) {
        self.token = token
        self.newest = newest
        self.request = request
        self.fullAt = fullAt
    }
}

/// The end of a scan.
public struct ScanEnd: Sendable {
    /// The cursor for the next scan; nil keeps the stored one.
    public var cursor: ScanCursor?
    /// Whether the scan asked only for what is new since the stored cursor.
    ///
    /// If that one has been forgotten meanwhile, because the next scan has to ask for everything, the new one is not stored.
    public var followsCursor = false
    /// How to delete the rows that were not seen; nil deletes none.
    public var sweep: SweepRule?
    /// Whether the sweep waits for the scans of all parents, because an object may have moved to another parent.
    public var defersSweep: Bool

    /// Creates the end of a scan.
    public init(cursor: ScanCursor? = nil, sweep: SweepRule? = nil, defersSweep: Bool = false) {
        self.cursor = cursor
        self.sweep = sweep
        self.defersSweep = defersSweep
    }
}
