public import Mapping

/// A local edit that the remote has not confirmed yet: a row of `bmo_outbox`.
public struct OutboxEntry: Sendable, Equatable, Identifiable {
    /// The kind of edit.
    public enum Operation: String, Sendable, CaseIterable {
        /// The remote gets a new object.
        case create
        /// An object of the remote is changed.
        case update
        /// An object of the remote is deleted.
        case delete
    }

    /// The state of an entry.
    public enum State: String, Sendable, CaseIterable {
        /// The entry waits to be sent, at ``notBefore`` if that is set; ``failure`` is that of the last attempt.
        case pending
        /// The entry is being sent since ``notBefore``; after a crash, it is unknown whether it arrived.
        case sending
        /// It is unknown whether the entry, sent at ``notBefore``, arrived; the object is read back before it is sent
        /// again. ``mayHaveArrived`` is set.
        case unknown
        /// The remote refused it for the reason in ``failure``; it stays until it is retried, edited or dropped.
        case refused
        /// The remote's object differs from the edited one; the conflict must be resolved first.
        case conflict
    }

    /// A column that was set.
    public struct FieldEdit: Sendable, Equatable {
        /// The column's name.
        public var name: String
        /// The value before the edit; nil if there was no row.
        public var old: StoredValue?
        /// The new value; nil if the row was deleted.
        public var new: StoredValue?

        /// Creates an edit of a column.
        public init(name: String, old: StoredValue?, new: StoredValue?) {
            self.name = name
            self.old = old
            self.new = new
        }
    }

    /// A to-many relationship that was set.
    public struct LinkEdit: Sendable, Equatable {
        /// The relationship's name.
        public var relationship: String
        /// The keys of the objects before the edit.
        public var old: [[StoredValue]]
        /// The keys of the objects after the edit.
        public var new: [[StoredValue]]

        /// Creates an edit of a relationship.
        public init(relationship: String, old: [[StoredValue]], new: [[StoredValue]]) {
            self.relationship = relationship
            self.old = old
            self.new = new
        }
    }

    /// The entry's ID; entries are sent in this order where they depend on each other.
    public var id: Int64
    /// The object's entity.
    public var entity: String
    /// The object's current key, which may be temporary.
    public var key: [StoredValue]
    /// The kind of edit.
    public var operation: Operation
    /// The columns that were set.
    public var changes: [FieldEdit]
    /// The to-many relationships that were set.
    public var links: [LinkEdit]
    /// The key that is the same for each attempt, so that remotes supporting it apply the edit only once.
    public var idempotencyKey: String
    /// The entry's state, which ``after(_:hasConflicts:)`` alone changes.
    public internal(set) var state: State
    /// The number of attempts to send it.
    public var attempts: Int
    /// The earliest time to send a pending entry, or the time when an entry in state `sending` or `unknown` was sent.
    ///
    /// As ISO 8601.
    public var notBefore: String?
    /// When the edit was made, as ISO 8601.
    public var created: String
    /// The reason why the last attempt failed.
    public var failure: OutboxFailure?
    /// The IDs of the entries that must be sent first.
    public var dependsOn: [Int64]
    /// Whether the key is temporary and local, until the remote assigns one.
    public var hasTemporaryKey: Bool
    /// Whether an attempt had an unknown outcome, until a reply arrives.
    public var mayHaveArrived: Bool
    /// What the program said about the edit to the bridge: the text of a JSON object; nil for nothing.
    ///
    /// It may hold what others must not see, so a description or a dump shows only whether there is one.
    public var userInfo: String? {
        get { userInfoText.text }
        set { userInfoText.text = newValue }
    }
    private var userInfoText: HiddenText

    /// Creates an entry.
    public init(
        id: Int64, entity: String, key: [StoredValue], operation: Operation, changes: [FieldEdit] = [],
        links: [LinkEdit] = [], idempotencyKey: String, state: State = .pending, attempts: Int = 0,
        notBefore: String? = nil, created: String, failure: OutboxFailure? = nil, dependsOn: [Int64] = [],
        hasTemporaryKey: Bool = false, mayHaveArrived: Bool = false, userInfo: String? = nil
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
        userInfoText = HiddenText(text: userInfo)
    }
}
