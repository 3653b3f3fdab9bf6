public import Mapping

/// A local edit that the remote has not confirmed yet: a row of `bmo_outbox`.
public struct OutboxEntry: Sendable, Equatable, Identifiable {
    /// What was done with the object.
    public enum Operation: String, Sendable, CaseIterable {
        case create, update, delete
    }

    /// How far it is.
    public enum State: String, Sendable, CaseIterable {
        /// It waits for its turn.
        case pending
        /// It is on its way; after a crash nobody knows whether it arrived.
        case sending
        /// Nobody knows whether it arrived: it is read back before anything else.
        case unknown
        /// The remote does not want it; it stays until it is retried or dropped.
        case refused
        /// The remote's object is another than the one that was edited; it waits for a decision.
        case conflict
    }

    /// A column that was set.
    public struct FieldEdit: Sendable, Equatable {
        /// The column's name.
        public var name: String
        /// The value that the edit was based on; nil where there was no row.
        public var old: StoredValue?
        /// The value it was set to; nil where the row was deleted.
        public var new: StoredValue?

        /// A column that was set.
        public init(name: String, old: StoredValue?, new: StoredValue?) {
            self.name = name
            self.old = old
            self.new = new
        }
    }

    /// A relationship to many that was set.
    public struct LinkEdit: Sendable, Equatable {
        /// The relationship's name.
        public var relationship: String
        /// The keys of the objects before.
        public var old: [[StoredValue]]
        /// The keys of the objects after.
        public var new: [[StoredValue]]

        /// A relationship that was set.
        public init(relationship: String, old: [[StoredValue]], new: [[StoredValue]]) {
            self.relationship = relationship
            self.old = old
            self.new = new
        }
    }

    /// Its number; entries are sent in this order, as far as they depend on each other.
    public var id: Int64
    /// The object's entity.
    public var entity: String
    /// The object's key as it is now; perhaps a temporary one.
    public var key: [StoredValue]
    /// What was done.
    public var operation: Operation
    /// The columns that were set.
    public var changes: [FieldEdit]
    /// The relationships to many that were set.
    public var links: [LinkEdit]
    /// The same for each try: remotes that know such keys do a thing once.
    public var idempotencyKey: String
    /// How far it is.
    public var state: State
    /// How often it was sent.
    public var attempts: Int
    /// Not to be sent before this instant, as ISO 8601.
    public var notBefore: String?
    /// When the edit was made, as ISO 8601.
    public var created: String
    /// Why it was not sent, or not accepted, the last time.
    public var failure: OutboxFailure?
    /// The entries that have to be sent before it.
    public var dependsOn: [Int64]
    /// Whether the key is one that only this database knows, until the remote gives another.
    public var hasTemporaryKey: Bool
    /// Whether it was sent at least once with an outcome that nobody knows; until an answer comes.
    public var mayHaveArrived: Bool

    /// An entry.
    public init(
        id: Int64, entity: String, key: [StoredValue], operation: Operation, changes: [FieldEdit] = [],
        links: [LinkEdit] = [], idempotencyKey: String, state: State = .pending, attempts: Int = 0,
        notBefore: String? = nil, created: String, failure: OutboxFailure? = nil, dependsOn: [Int64] = [],
        hasTemporaryKey: Bool = false, mayHaveArrived: Bool = false
    ) {
        self.id = id
        self.entity = entity
        self.key = key
        self.operation = operation
        self.changes = changes
        self.links = links
        self.idempotencyKey = idempotencyKey
        self.state = state
        self.attempts = attempts
        self.notBefore = notBefore
        self.created = created
        self.failure = failure
        self.dependsOn = dependsOn
        self.hasTemporaryKey = hasTemporaryKey
        self.mayHaveArrived = mayHaveArrived
    }
}

/// Why the remote did not take an edit.
public struct OutboxFailure: Sendable, Equatable {
    /// The kind of failure, as in `bmo_bridge.h`.
    public var code: String
    /// What failed, on which thing.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The remote's own words.
    public var remote: String?

    /// A failure.
    public init(code: String, message: String, remedy: String? = nil, remote: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.remote = remote
    }
}

/// What to do with one local object.
public struct LocalEdit: Sendable {
    /// What to do.
    public var operation: OutboxEntry.Operation
    /// The object's entity.
    public var entity: String
    /// The object's key; empty for a new object, whose key is among its values or given to it.
    public var key: [StoredValue]
    /// Columns to set, by name.
    public var values: [String: StoredValue]
    /// Relationships to many to set, by name: the keys of all targets.
    public var links: [String: [[StoredValue]]]

    /// An edit.
    public init(
        _ operation: OutboxEntry.Operation, entity: String, key: [StoredValue] = [],
        values: [String: StoredValue] = [:], links: [String: [[StoredValue]]] = [:]
    ) {
        self.operation = operation
        self.entity = entity
        self.key = key
        self.values = values
        self.links = links
    }
}

/// What became of a local edit.
public struct EditReceipt: Sendable, Equatable {
    /// The object's entity.
    public var entity: String
    /// The object's key; of a new object perhaps a temporary one.
    public var key: [StoredValue]
    /// The entry that will be sent; nil where there is nothing to send.
    public var entry: Int64?

    /// A receipt.
    public init(entity: String, key: [StoredValue], entry: Int64?) {
        self.entity = entity
        self.key = key
        self.entry = entry
    }
}

/// A column that was changed here and on the remote.
public struct EditConflict: Sendable, Equatable {
    /// The object's entity.
    public var entity: String
    /// The object's key.
    public var key: [StoredValue]
    /// The column; nil where the remote deleted the object, or changed one that was deleted here.
    public var column: String?
    /// The value that the edit was based on.
    public var base: StoredValue?
    /// The value here.
    public var local: StoredValue?
    /// The value on the remote; nil where it deleted the object.
    public var remote: StoredValue?
    /// When it was found, as ISO 8601.
    public var seen: String

    /// A conflict.
    public init(
        entity: String, key: [StoredValue], column: String?, base: StoredValue?, local: StoredValue?,
        remote: StoredValue?, seen: String
    ) {
        self.entity = entity
        self.key = key
        self.column = column
        self.base = base
        self.local = local
        self.remote = remote
        self.seen = seen
    }
}
