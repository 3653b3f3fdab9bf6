public import Model

/// What a sync would ask for, walk by walk.
public struct SyncPlan: Sendable {
    /// How much of a listing a walk asks for.
    public enum Extent: Sendable, Equatable {
        /// Everything, and why.
        case full(reason: String)
        /// What changed since a value of the incremental field, as the remote knows it.
        case since(String)
        /// What changed since the bridge's own token was made; the token itself may be long, and is not told.
        case token(from: String)
        /// The records that meet conditions: a part, which deletes nothing and moves no cursor.
        case part
    }

    /// A request, as the bridge tells it, without secrets.
    public struct Request: Sendable, Equatable {
        /// Such as `GET https://api.example/users?page=1`.
        public var text: String
        /// What is sent with it, if anything.
        public var body: String?
    }

    /// A condition of the user's.
    public struct Condition: Sendable, Equatable {
        /// As it was written.
        public var text: String
        /// Whether the remote applies it; all conditions are checked before the import as well.
        public var isPushed: Bool
    }

    /// The objects that a walk goes by: one walk for each.
    public struct Parents: Sendable {
        /// Their entity.
        public var entity: String
        /// How many there are now; nil while there is no database.
        public var count: Int?
        /// How many walks go on at a time.
        public var concurrency: Int
        /// Which of them have a walk, as the configuration says it.
        public var conditions: [String]
        /// The key of the one that ``Walk/requests`` are for; nil where these show the names of attributes instead.
        public var example: String?
    }

    /// A walk over an entity's records through one bridge.
    public struct Walk: Sendable {
        /// The entity.
        public var entity: String
        /// The further source; nil for the entity's own bridge.
        public var source: String?
        /// The config's name of the bridge.
        public var bridge: String
        /// How much it asks for.
        public var extent: Extent
        /// The page after which an interrupted walk goes on.
        public var resumesAfterPage: Int?
        /// What it goes by; nil for one walk over all.
        public var parents: Parents?
        /// The requests for the first page.
        public var requests: [Request] = []
        /// How the listing goes on, as the bridge tells it.
        public var paging: String?
        /// What is asked of the records.
        public var conditions: [Condition] = []
        /// What becomes of the rows that the listing lacks; nil where the walk is none that could tell.
        public var deletes: DeletePolicy?
        /// Why the requests are not known.
        public var failure: SyncFailure?
    }

    /// In the order in which a sync begins them.
    public var walks: [Walk] = []
    /// What a push would send.
    public var writes: [PlannedWrite] = []

    /// Whether all requests could be told.
    public var succeeded: Bool { walks.allSatisfy { $0.failure == nil } }
}
