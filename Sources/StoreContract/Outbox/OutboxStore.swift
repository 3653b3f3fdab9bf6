public import Mapping

/// The outbox: local edits that the remote has not confirmed, and how each is sent.
///
/// The order for one entry: ``markSending(_:)`` before the request goes out; then either
/// `PageTransaction.acknowledge(_:key:)` in the page that imports the reply, or ``settle(_:_:)``. A process that dies
/// in between leaves the state `sending`, which ``recoverSending()`` turns into `unknown`. The writes are on disk when
/// they return, and the caller holds the push lock.
///
/// ```swift
/// while let entry = try store.nextToSend(at: now, entities: nil, excluding: [], among: nil) {
///     guard let entry = try store.markSending(entry.id) else { continue }
///     // send it
///     try store.settle(entry.id, .refused(failure))
/// }
/// ```
///
/// Calls may come from any thread; those that write wait for another process's page, and throw `busy` while a page is open
/// in this store. Errors are ``StoreError``.
public protocol OutboxStore: AnyObject, Sendable {
    /// Returns the edits in the outbox, in order of creation.
    ///
    /// - Parameters:
    ///   - entity: Returns only edits of this entity; nil for all.
    ///   - state: Returns only edits in this state; nil for all.
    func outbox(entity: String?, state: OutboxEntry.State?) throws -> [OutboxEntry]

    /// Returns the edits of one object in the outbox, in order of creation.
    func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry]

    /// Returns one edit in the outbox; nil if there is none with this ID.
    func outboxEntry(_ id: Int64) throws -> OutboxEntry?

    /// Returns the columns and to-many relationships of an object that have unconfirmed edits.
    func pendingFields(entity: String, key: [StoredValue]) throws -> [String]

    /// Returns the first entry that may be sent at `instant`: pending, due, the first of its object, and with all
    /// objects that it refers to on the remote.
    ///
    /// - Parameters:
    ///   - instant: The time as ISO 8601, UTC, with microseconds.
    ///   - entities: The entities to consider; nil for all.
    ///   - excluding: The IDs of entries to skip.
    ///   - entries: The IDs of entries to consider; nil for all.
    func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>?
    ) throws -> OutboxEntry?

    /// Returns the entries that an entry waits for: earlier ones of its object, and the creates of the objects that it
    /// refers to.
    func blockers(of entry: OutboxEntry) throws -> [OutboxEntry]

    /// Records durably that an entry is about to be sent.
    ///
    /// - Returns: The entry to send, which later edits do not change; nil if it should not be sent any more, because it
    ///   was dropped or a conflict was found.
    @discardableResult
    func markSending(_ id: Int64) throws -> OutboxEntry?

    /// Records the outcome of an entry that was not acknowledged.
    ///
    /// Does nothing if the entry is gone, or for an outcome with which an entry leaves the outbox.
    func settle(_ id: Int64, _ outcome: EditOutcome) throws

    /// Marks entries that a dead process was sending as `unknown`, and returns them.
    func recoverSending() throws -> [OutboxEntry]

    /// Returns whether an edit that left the outbox was undone, or given up by an import, before it was pushed.
    ///
    /// The answer depends on the history that is kept.
    func wasDropped(_ id: Int64) throws -> Bool

    /// Returns whether the database had a row with a key at a time (ISO 8601), as far as the history shows.
    ///
    /// - Parameters:
    ///   - root: The entity that has the table.
    ///   - key: The row's key.
    ///   - instant: The time.
    func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool
}

extension OutboxStore {
    /// Returns all edits in the outbox, in order of creation.
    public func outbox() throws -> [OutboxEntry] { try outbox(entity: nil, state: nil) }

    /// Returns the edits of an entity, in order of creation.
    public func outbox(entity: String) throws -> [OutboxEntry] { try outbox(entity: entity, state: nil) }

    /// Returns the edits in a state, in order of creation.
    public func outbox(state: OutboxEntry.State) throws -> [OutboxEntry] { try outbox(entity: nil, state: state) }

    /// Returns the first entry that may be sent at `instant`; see ``nextToSend(at:entities:excluding:among:)``.
    public func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>
    ) throws -> OutboxEntry? {
        try nextToSend(at: instant, entities: entities, excluding: excluding, among: nil)
    }
}
