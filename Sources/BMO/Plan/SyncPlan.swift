public import Model

/// The requests of a sync, scan by scan.
public struct SyncPlan: Sendable {
    /// How much of a listing a scan requests.
    public enum Extent: Sendable, Equatable {
        /// Everything, and the reason.
        case full(reason: String)
        /// The changes since a value of the incremental field, in the remote's form.
        case since(String)
        /// The newest records first, down to a known value of the incremental field.
        case newestFirst(until: String)
        /// The changes since the bridge's token was made; the token itself may be long, and is omitted.
        case token(from: String)
        /// The records that meet conditions: a part, which deletes nothing and moves no cursor.
        case part
    }

    /// A request as the bridge describes it, without secrets.
    public struct Request: Sendable, Equatable {
        /// The request line, such as `GET https://api.example/users?page=1`.
        public var text: String
        /// The body, if any.
        public var body: String?
    }

    /// A condition given by the user.
    public struct Condition: Sendable, Equatable {
        /// The condition as written.
        public var text: String
        /// Whether the remote applies it; all conditions are also checked before the import.
        public var isPushed: Bool
    }

    /// The objects that have a scan each.
    public struct Parents: Sendable {
        /// Their entity.
        public var entity: String
        /// How many exist now; nil while the database does not exist.
        public var count: Int?
        /// How many of these are scanned, because they have changed since their last scan; nil where all are.
        public var due: Int?
        /// How many scans run at a time.
        public var concurrency: Int
        /// The configured conditions that select the objects with a scan.
        public var conditions: [String]
        /// The key of the object that ``Scan/requests`` are for; nil where these show the names of attributes instead.
        public var example: String?
    }

    /// A scan over an entity's records through one bridge.
    public struct Scan: Sendable {
        /// The entity.
        public var entity: String
        /// The further source; nil for the entity's own bridge.
        public var source: String?
        /// The bridge's name in the configuration.
        public var bridge: String
        /// How much it requests.
        public var extent: Extent
        /// The page after which an interrupted scan continues.
        public var resumesAfterPage: Int?
        /// The objects with a scan each; nil for one scan over all.
        public var parents: Parents?
        /// The requests for the first page.
        public var requests: [Request] = []
        /// How the bridge requests further pages.
        public var paging: String?
        /// The conditions on the records.
        public var conditions: [Condition] = []
        /// What happens to rows that the listing lacks; nil where the scan cannot determine them.
        public var deletes: DeletePolicy?
        /// Why the requests are not known.
        public var failure: SyncFailure?
    }

    /// The scans in the order in which a sync begins them.
    public var scans: [Scan] = []
    /// The edits that a push would send.
    public var writes: [PlannedWrite] = []

    /// Whether all requests are known.
    public var succeeded: Bool { scans.allSatisfy { $0.failure == nil } }
}
