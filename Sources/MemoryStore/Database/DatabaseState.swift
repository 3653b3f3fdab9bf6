internal import Mapping
internal import StoreContract
internal import StoreRules

/// Everything in a database, as one value: a transaction works on a copy, which takes the original's place or is
/// dropped.
struct DatabaseState: Sendable {
    /// A local edit that waits, with what the outbox knows about it.
    struct StoredEntry: Sendable {
        var entry: OutboxEntry
        /// The entity that has the object's table.
        var root: String
        /// The runs that contributed to it.
        var runs: [Int64] = []
    }

    /// An edit that the remote accepted during a scan.
    struct AcceptedEdit: Sendable {
        var entry: OutboxEntry
        var root: String
        var key: RowKey
    }

    /// A member of a listing's records.
    struct Member: Sendable {
        var request: String
        var isGone = false
    }

    /// What identifies a member.
    struct MemberName: Hashable, Sendable {
        var listing: String
        var source: String
        var entity: String
        var path: ExactText
    }

    /// The tables, as the last model that wrote them has them.
    var schema = DatabaseSchema()
    /// A number that changes with the tables, so that positions of scans from before are not used.
    var schemaVersion = 0
    var tables: [String: RowTable] = [:]
    /// What the tables had before the model changed.
    var unused = Unused()
    var links: [String: LinkTable] = [:]
    var stubs: [String: Set<RowKey>] = [:]
    var provenance: [String: [RowKey: [ProvenanceRecord]]] = [:]
    var sourceScans: [String: Set<String>] = [:]

    var runs: [RunRecord] = []
    var lastRun: Int64 = 0
    var changes: [ChangeRecord] = []
    var lastChange: Int64 = 0

    var outbox: [StoredEntry] = []
    var lastEntry: Int64 = 0
    var acknowledged: [AcceptedEdit] = []
    var lastAcknowledged: Int64 = 0
    /// The conflicts, with the name of the entity that has the object's table.
    var conflicts: [(root: String, conflict: EditConflict)] = []

    var cursors: [ScanScope: (cursor: ScanCursor, saved: String)] = [:]
    var scans: [ScanScope: (scan: SavedScan, schemaVersion: Int)] = [:]
    var origins: [String: String] = [:]
    /// The objects that scans removed from relationships, by the scanned entity: table and key.
    var orphans: [String: [(root: String, key: RowKey)]] = [:]

    var quarantine: [QuarantineEntry] = []
    var lastQuarantined: Int64 = 0
    /// When each field that nothing reads first occurred, by entity and path.
    var unknownFields: [String: [ExactText: String]] = [:]
    var members: [MemberName: Member] = [:]
    /// The pages of collections by number, with the time of the last change, by entity and name.
    var collections: [String: [ExactText: (pages: [Int: CollectionPage], saved: String)]] = [:]
}
