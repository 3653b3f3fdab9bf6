public import Mapping
public import Model

/// What one walk lists: an entity, by its own bridge or a further source, of all objects or of one parent's.
public struct WalkScope: Hashable, Sendable {
    /// The entity's name.
    public var entity: String
    /// The further source's name; empty for the entity's own bridge.
    public var source: String
    /// The parent's key as a JSON array; empty where there is no parent.
    public var parent: String

    /// A scope.
    public init(entity: String, source: String = "", parent: String = "") {
        self.entity = entity
        self.source = source
        self.parent = parent
    }
}

/// What a page's transaction needs to know of the walk that the page belongs to.
public struct WalkTarget: Sendable {
    /// What is walked.
    public var scope: WalkScope
    /// The entity's index in the compiled model.
    public var entity: Int
    /// Whether the walk is the entity's own listing: what it does not list may be gone.
    public var isListing: Bool
    /// The index of the relationship to one that leads to the parent, and the parent's key.
    public var parent: (relationship: Int, key: [StoredValue])?
    /// The number of the newest edit that the remote had taken when the walk began; nil where it shows what is now.
    ///
    /// What it brings of objects with later ones may be from before.
    public var acknowledged: Int64?

    /// A walk over an entity.
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

/// Where a walk stands after a page.
public struct WalkProgress: Sendable, Equatable {
    /// The bridge's resume point after the page.
    public var cursor: String
    /// How many pages are done.
    public var page: Int
    /// What the walk asked for: a resume point of another request is worthless.
    public var request: String
    /// The newest value of the incremental field in the pages so far.
    public var newest: Watermark?
    /// When the walk began with its first page, as ISO 8601; empty where nobody noted it.
    public var began: String

    /// A walk's place.
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
    /// As it is stored: of these, the greater one is the newer.
    public var local: StoredValue
    /// As the remote sent it.
    public var remote: String

    /// A value.
    public init(local: StoredValue, remote: String) {
        self.local = local
        self.remote = remote
    }

    /// Whether `value` is newer than this: an integer by its value, a time or a date by its text.
    public static func isNewer(_ value: StoredValue, than old: StoredValue?) -> Bool {
        switch (value, old) {
        case (.integer(let value), .integer(let old)): value > old
        case (.text(let value), .text(let old)): value.utf8.lexicographicallyPrecedes(old.utf8) ? false : value != old
        case (.null, _): false
        default: true
        }
    }

    /// The newer of two.
    public static func newer(_ first: Watermark?, _ second: Watermark?) -> Watermark? {
        guard let first else { return second }
        guard let second else { return first }
        return isNewer(second.local, than: first.local) ? second : first
    }
}

/// What a finished walk leaves for the next one, so that it need not ask for everything.
public struct WalkCursor: Sendable, Equatable {
    /// The bridge's own state.
    public var token: String?
    /// The newest value of the incremental field.
    public var newest: Watermark?
    /// What the walk asked for: a cursor of another request is worthless.
    public var request: String
    /// When a walk last asked for everything, as ISO 8601.
    public var fullAt: String

    /// A cursor.
    public init(token: String?, newest: Watermark?, request: String, fullAt: String) {
        self.token = token
        self.newest = newest
        self.request = request
        self.fullAt = fullAt
    }
}

/// How a walk ended.
public struct WalkEnd: Sendable {
    /// What the next walk may go on from; nil leaves what there is.
    public var cursor: WalkCursor?
    /// Whether the rows that were not seen are to be deleted.
    public var sweep: SweepRule?
    /// The deletion waits until the walks of all parents are over: an object may have moved to another.
    public var defersSweep: Bool

    /// A walk's end.
    public init(cursor: WalkCursor? = nil, sweep: SweepRule? = nil, defersSweep: Bool = false) {
        self.cursor = cursor
        self.sweep = sweep
        self.defersSweep = defersSweep
    }
}

/// How rows that a whole listing lacks are deleted.
public struct SweepRule: Sendable {
    /// The most that may be deleted; nil for no limit.
    public var brake: DeletePolicy.Brake?
    /// Which of two listings it is that both have to lack a row.
    public var listing: Listing
    /// Where the listing came from, such as a URL; nil where nobody can tell.
    ///
    /// What a listing from elsewhere brought is not deleted without the brake, however little it is.
    public var origin: String?

    /// Listings that may have passed by rows without lacking them are asked for twice.
    public enum Listing: Sendable {
        /// What it lacks is gone.
        case only
        /// What it lacks is noted and not deleted.
        case first
        /// What it lacks is gone if the first one lacked it too.
        case second
    }

    /// A rule.
    public init(brake: DeletePolicy.Brake?, listing: Listing = .only, origin: String? = nil) {
        self.brake = brake
        self.listing = listing
        self.origin = origin
    }

    /// Whether so many of so many rows are more than may be deleted.
    public func holds(_ gone: Int, of total: Int) -> Bool {
        guard let brake else { return false }
        return gone > brake.rows && Double(gone) > brake.share * Double(total)
    }
}

/// What became of the rows that a whole listing lacked.
public struct SweepResult: Sendable, Equatable {
    /// A brake that held: so many of so many rows are gone from the listing.
    public struct Held: Sendable, Equatable {
        /// Rows that the listing lacks.
        public var gone: Int
        /// Rows in the scope.
        public var total: Int
        /// The scopes that the brake held in.
        public var scopes: Int

        /// Where the rows came from, if that is elsewhere than where the listing did.
        public var origin: String?

        /// A brake that held.
        public init(gone: Int, total: Int, scopes: Int = 1, origin: String? = nil) {
            self.gone = gone
            self.total = total
            self.scopes = scopes
            self.origin = origin
        }
    }

    /// Objects that were deleted, per entity of the model: those of a deleted parent are among them.
    public var deleted: [Int: Int]
    /// Nothing was deleted in these scopes.
    public var held: Held?
    /// Nothing was deleted, because the walk passed by objects that nobody can name.
    public var isUncertain: Bool
    /// So many rows were lacking in the first of two listings.
    public var unconfirmed: Int
    /// Keys that came more than once in one listing, with other values.
    public var repeated: RepeatedKeys?
    /// Keys that the listings of several parents brought, each as its own.
    public var shared: RepeatedKeys?

    /// What became of them.
    public init(deleted: [Int: Int] = [:], held: Held? = nil, isUncertain: Bool = false, unconfirmed: Int = 0) {
        self.deleted = deleted
        self.held = held
        self.unconfirmed = unconfirmed
        self.isUncertain = isUncertain
    }
}

/// Keys that stand for several objects of the remote: one row here takes the values of one after the other.
public struct RepeatedKeys: Sendable, Equatable {
    /// How many there are.
    public var count: Int
    /// The first of them.
    public var key: [StoredValue]
    /// The keys of two parents that have it, where it came from several.
    public var parents: [[StoredValue]]

    /// Keys.
    public init(count: Int, key: [StoredValue], parents: [[StoredValue]] = []) {
        self.count = count
        self.key = key
        self.parents = parents
    }
}

/// Local objects that a walk did not look at: that they did not come says nothing.
public struct SparedRows: Sendable, Equatable {
    /// The field, by its index in the entity's layout.
    public var field: Int
    /// The field's value, or how it begins.
    public var value: String
    /// Whether `value` is only how the field's value begins.
    public var isPrefix: Bool

    /// Objects whose field has a value.
    public init(field: Int, value: String, isPrefix: Bool) {
        self.field = field
        self.value = value
        self.isPrefix = isPrefix
    }
}
