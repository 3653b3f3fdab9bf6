public import Mapping
internal import Importer

// Not written yet: the shape that the pusher compiles against.
extension SQLiteStore {
    private var unwritten: StoreError { StoreError(.internal, "the outbox is not written yet") }

    /// Makes local edits and their outbox entries in one transaction.
    public func edit(_ edits: [LocalEdit]) throws -> [EditReceipt] { throw unwritten }

    /// The edits that wait.
    public func outbox(entity: String? = nil, state: OutboxEntry.State? = nil) throws -> [OutboxEntry] {
        throw unwritten
    }

    /// One edit that waits.
    public func outboxEntry(_ id: Int64) throws -> OutboxEntry? { throw unwritten }

    /// The first entry that may be sent at `instant` (ISO 8601).
    package func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>
    ) throws -> OutboxEntry? { throw unwritten }

    /// Notes durably that an entry is about to be sent.
    package func markSending(_ id: Int64) throws { throw unwritten }

    /// What became of an entry that was not acknowledged.
    package enum Settlement: Sendable {
        case retry(at: String?, OutboxFailure)
        case refused(OutboxFailure)
        case unknown(at: String?, OutboxFailure)
        case conflict(OutboxFailure)
    }

    /// Notes what became of an entry that was not acknowledged.
    package func settle(_ id: Int64, _ settlement: Settlement) throws { throw unwritten }

    /// Entries that a dead process was sending become `unknown`; call it under the push lock.
    package func recoverSending() throws -> [OutboxEntry] { throw unwritten }

    /// Makes refused entries (or conflicts, or those that wait) pending and due now.
    public func retryOutbox(_ ids: [Int64]) throws { throw unwritten }

    /// Forgets entries and rolls their local changes back.
    public func dropOutbox(_ ids: [Int64]) throws { throw unwritten }

    /// The columns that were changed here and on the remote.
    public func conflicts(entity: String? = nil, key: [StoredValue]? = nil) throws -> [EditConflict] {
        throw unwritten
    }

    /// Whose value to take.
    public enum Side: String, Sendable, CaseIterable {
        case local, remote
    }

    /// Decides conflicts of an object: of a column, or all.
    public func resolve(entity: String, key: [StoredValue], column: String? = nil, take: Side) throws {
        throw unwritten
    }

    /// The columns of an object that have edits which the remote has not confirmed.
    public func pendingFields(entity: String, key: [StoredValue]) throws -> [String] { throw unwritten }
}
