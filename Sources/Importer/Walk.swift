public import Mapping
public import Model

/// The scope of a scan: an entity, its own bridge or a further source, and all objects or those of one parent.
public struct WalkScope: Hashable, Sendable {
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
}

/// The properties of a scan that a page's transaction needs.
public struct WalkTarget: Sendable {
    /// The scan's scope.
    public var scope: WalkScope
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
        scope: WalkScope, entity: Int, isListing: Bool = true, parent: (relationship: Int, key: [StoredValue])? = nil,
        acknowledged: Int64? = nil
    ) {
        self.scope = scope
        self.entity = entity
        self.isListing = isListing
        self.parent = parent
        self.acknowledged = acknowledged
    }
}

/// The position of a scan after a page.
public struct WalkProgress: Sendable, Equatable {
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

    /// Creates the position of a scan.
    public init(cursor: String, page: Int, request: String, newest: Watermark? = nil, began: String = "") {
        self.cursor = cursor
        self.page = page
        self.request = request
        self.newest = newest
        self.began = began
    }
}

/// The newest value of an incremental field.
public struct Watermark: Sendable, Equatable {
    /// The stored form; the greatest is the newest.
    public var local: StoredValue
    /// The form that the remote sent.
    public var remote: String

    /// Creates a watermark.
    public init(local: StoredValue, remote: String) {
        self.local = local
        self.remote = remote
    }

    /// Returns whether `value` is newer than `old`: integers compare by value, times and dates by their text.
    public static func isNewer(_ value: StoredValue, than old: StoredValue?) -> Bool {
        switch (value, old) {
        case (.integer(let value), .integer(let old)): value > old
        case (.text(let value), .text(let old)): value.utf8.lexicographicallyPrecedes(old.utf8) ? false : value != old
        case (.null, _): false
        default: true
        }
    }

    /// Returns the newer of two watermarks.
    public static func newer(_ first: Watermark?, _ second: Watermark?) -> Watermark? {
        guard let first else { return second }
        guard let second else { return first }
        return isNewer(second.local, than: first.local) ? second : first
    }
}

/// The rows that a scan has listed.
public struct ListedRows: Sendable, Equatable {
    /// The number of distinct rows; nil if there are too many to count.
    public var distinct: Int?
    /// The number of rows that appeared more than once with different values.
    public var repeated: Int

    /// Creates the counts.
    public init(distinct: Int?, repeated: Int) {
        self.distinct = distinct
        self.repeated = repeated
    }
}

/// The state that a completed scan leaves for the next one, which then need not list everything.
public struct WalkCursor: Sendable, Equatable {
    /// The bridge's own token.
    public var token: String?
    /// The watermark.
    public var newest: Watermark?
    /// A text that identifies the request: a cursor is valid only for the same request.
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
public struct WalkEnd: Sendable {
    /// The cursor for the next scan; nil keeps the stored one.
    public var cursor: WalkCursor?
    /// How to delete the rows that were not seen; nil deletes none.
    public var sweep: SweepRule?
    /// Whether the sweep waits for the scans of all parents, because an object may have moved to another parent.
    public var defersSweep: Bool

    /// Creates the end of a scan.
    public init(cursor: WalkCursor? = nil, sweep: SweepRule? = nil, defersSweep: Bool = false) {
        self.cursor = cursor
        self.sweep = sweep
        self.defersSweep = defersSweep
    }
}

/// How a sweep deletes the rows that are missing from a complete listing.
public struct SweepRule: Sendable {
    /// The deletion limit; nil for none.
    public var brake: DeletePolicy.Brake?
    /// The role of the listing, where two listings must both lack a row.
    public var listing: Listing
    /// Where the listing came from, such as a URL; nil if unknown.
    ///
    /// Where a limit is set, rows that came from another origin are never deleted, however few they are.
    public var origin: String?

    /// The role of a listing.
    ///
    /// A listing that may have skipped rows is requested twice.
    public enum Listing: Sendable {
        /// Missing rows are deleted.
        case only
        /// Missing rows are noted but not deleted.
        case first
        /// Missing rows are deleted if the first listing lacked them too.
        case second
    }

    /// Creates a rule.
    public init(brake: DeletePolicy.Brake?, listing: Listing = .only, origin: String? = nil) {
        self.brake = brake
        self.listing = listing
        self.origin = origin
    }

    /// Returns whether deleting `gone` of `total` rows exceeds the limit.
    public func holds(_ gone: Int, of total: Int) -> Bool {
        guard let brake else { return false }
        return gone > brake.rows && Double(gone) > brake.share * Double(total)
    }
}

/// The outcome of a sweep.
public struct SweepResult: Sendable, Equatable {
    /// A sweep that the deletion limit prevented.
    public struct Held: Sendable, Equatable {
        /// The number of rows that the listing lacks.
        public var gone: Int
        /// The number of rows in the scope.
        public var total: Int
        /// The number of affected scopes.
        public var scopes: Int

        /// Where the rows came from, if that differs from the listing's origin.
        public var origin: String?

        /// Creates the description of a prevented sweep.
        public init(gone: Int, total: Int, scopes: Int = 1, origin: String? = nil) {
            self.gone = gone
            self.total = total
            self.scopes = scopes
            self.origin = origin
        }
    }

    /// The number of deleted objects per entity of the model, including those of deleted parents.
    public var deleted: [Int: Int]
    /// The number of to-many relationships rewritten at the end, per entity of the model: those that arrived in parts
    /// or lost members.
    public var relinked: [Int: Int] = [:]
    /// The sweep that the deletion limit prevented, if any.
    public var held: Held?
    /// Whether nothing was deleted because the scan skipped unidentified objects.
    public var isUncertain: Bool
    /// The number of rows missing from the first of two listings.
    public var unconfirmed: Int
    /// Keys that appeared more than once in one listing with different values.
    public var repeated: RepeatedKeys?
    /// Keys that the listings of several parents contained, each as its own.
    public var shared: RepeatedKeys?

    /// Creates an outcome.
    public init(deleted: [Int: Int] = [:], held: Held? = nil, isUncertain: Bool = false, unconfirmed: Int = 0) {
        self.deleted = deleted
        self.held = held
        self.unconfirmed = unconfirmed
        self.isUncertain = isUncertain
    }
}

/// Keys shared by several remote objects, whose values overwrite each other in one local row.
public struct RepeatedKeys: Sendable, Equatable {
    /// The number of such keys.
    public var count: Int
    /// The first such key.
    public var key: [StoredValue]
    /// The keys of two parents that have it, if it came from several parents.
    public var parents: [[StoredValue]]

    /// Creates a description of repeated keys.
    public init(count: Int, key: [StoredValue], parents: [[StoredValue]] = []) {
        self.count = count
        self.key = key
        self.parents = parents
    }
}

/// Local objects that a scan skipped, so that their absence from the listing means nothing.
public struct SparedRows: Sendable, Equatable {
    /// The field, by its index in the entity's layout.
    public var field: Int
    /// The field's value, or its prefix.
    public var value: String
    /// Whether `value` is only a prefix.
    public var isPrefix: Bool

    /// Creates a selection of the objects with this value.
    public init(field: Int, value: String, isPrefix: Bool) {
        self.field = field
        self.value = value
        self.isPrefix = isPrefix
    }
}
