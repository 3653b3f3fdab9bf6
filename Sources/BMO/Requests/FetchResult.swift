public import Importer

/// What a request's remote part did to the local database.
public struct FetchResult: Sendable {
    /// A property of an object that is another now.
    public struct PropertyChange: Sendable, Equatable {
        /// The attribute's or relationship's name.
        public var name: String
        /// Before; nil for a relationship to many.
        public var old: LocalValue?
        /// After; nil for a relationship to many.
        public var new: LocalValue?
    }

    /// An object that was updated.
    public struct Update: Sendable, Equatable {
        /// The object.
        public var id: ObjectID
        /// What changed of it.
        public var properties: [PropertyChange]
    }

    /// A record that could not be imported and was put aside.
    public struct Quarantined: Sendable, Equatable {
        /// The entity it was meant for.
        public var entity: String
        /// Why.
        public var reason: String
        /// Its representation, or the beginning of it.
        public var representation: String
    }

    /// Why the remote was not asked.
    public enum Skip: Sendable, Equatable {
        /// The request says never.
        case never
        /// There are local objects.
        case localObjects
        /// The last answer is young enough.
        case fresh
        /// The request's own closure said no.
        case custom
    }

    /// Why the remote was not asked; nil when it was.
    public var skipped: Skip?
    /// Objects that are new, or were only referred to before; of all entities that came.
    public var inserted: [ObjectID] = []
    /// Objects of which something changed.
    public var updated: [Update] = []
    /// Objects that are gone.
    public var deleted: [ObjectID] = []
    /// Records that were put aside.
    public var quarantined: [Quarantined] = []
    /// How many objects of each entity: these count all, where the lists above end at the manager's limit.
    public var counts: [String: ImportCounts.Entity] = [:]
    /// Whether there was more than the lists have.
    public var isTruncated = false
    /// How many objects were as they are.
    public var unchangedCount: Int { counts.values.reduce(0) { $0 + $1.unchanged } }
    /// What the remote said about the reply, as of its last page.
    public var metadata = PageMetadata()
    /// What it said about the walks of entities that came by way of this one, by entity.
    public var related: [String: PageMetadata] = [:]
    /// Pages that were imported.
    public var pageCount = 0
    /// Whether all that was asked for has come; false for pages up to a limit.
    public var isComplete = false
    /// What a person should know.
    public var warnings: [String] = []
    /// The objects that match now, where the request wanted them.
    public var objects: [LocalObject]?
    /// The request's own.
    public var userInfo: [String: any Sendable] = [:]

    /// Whether anything changed.
    public var hasChanges: Bool {
        counts.values.contains { $0.inserted + $0.updated + $0.deleted + $0.relinked + $0.stubs > 0 }
    }
}
