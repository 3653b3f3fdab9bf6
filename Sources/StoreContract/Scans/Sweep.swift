public import Mapping
public import Model

/// How a sweep deletes the rows that are missing from a complete listing.
public struct SweepRule: Sendable {
    /// The deletion limit; nil for none.
    public var deletionLimit: DeletePolicy.DeletionLimit?
    /// The role of the listing, where two listings must both lack a row.
    public var listing: Listing
    /// Where the listing came from, such as a URL; nil if unknown.
    ///
    /// Where a limit is set, rows that came from another origin are never deleted, however few they are.
    public var origin: String?
    /// Whether rows that came from another origin may be deleted, too, within the limit.
    package var coversOtherOrigins = false

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
    public init(deletionLimit: DeletePolicy.DeletionLimit?, listing: Listing = .only, origin: String? = nil) {
        self.deletionLimit = deletionLimit
        self.listing = listing
        self.origin = origin
    }

    /// Returns whether deleting `gone` of `total` rows exceeds the limit.
    public func holds(_ gone: Int, of total: Int) -> Bool {
        guard let deletionLimit else { return false }
        return gone > deletionLimit.rows && Double(gone) > deletionLimit.share * Double(total)
    }
}

/// The outcome of a sweep.
public struct SweepResult: Sendable, Equatable {
    /// A sweep that the deletion limit prevented.
    public struct LimitExceeded: Sendable, Equatable {
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
    public var held: LimitExceeded?
    /// Whether nothing was deleted because the scan skipped unidentified objects.
    public var isUncertain: Bool
    /// The number of rows missing from the first of two listings.
    public var unconfirmed: Int
    /// Keys that appeared more than once in one listing with different values.
    public var repeated: RepeatedKeys?
    /// Keys that the listings of several parents contained, each as its own.
    public var shared: RepeatedKeys?
    /// Rows that the database did not let go.
    public var kept: KeptRows?

    /// Creates an outcome.
    public init(deleted: [Int: Int] = [:], held: LimitExceeded? = nil, isUncertain: Bool = false, unconfirmed: Int = 0)
    {
        self.deleted = deleted
        self.held = held
        self.unconfirmed = unconfirmed
        self.isUncertain = isUncertain
    }
}

/// Rows that stay although the remote does not have their objects any more: a trigger or a foreign key that is not bmo's
/// refuses their deletion.
public struct KeptRows: Sendable, Equatable {
    /// The number of rows.
    public var count: Int
    /// The entity of the first one.
    public var entity: String
    /// Its key.
    public var key: [StoredValue]
    /// Why it cannot be deleted, and what to do about it.
    public var reason: String

    /// Creates a description of kept rows.
    public init(count: Int = 1, entity: String, key: [StoredValue], reason: String) {
        self.count = count
        self.entity = entity
        self.key = key
        self.reason = reason
    }

    /// Says so on one line.
    public var words: String {
        let key = key.map(\.description).joined(separator: " ")
        let others = count > 1 ? ", and so do \(count - 1) more rows" : ""
        return "\(entity) \(key) stays, although the remote does not have it any more\(others): \(reason)"
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
public struct SkippedRows: Sendable, Equatable {
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
