internal import Importer
public import StoreContract

extension RequestManager {
    /// Returns the local edits that the remote has not confirmed, in the order in which they are sent.
    ///
    /// - Parameters:
    ///   - entity: Limits the result to this entity.
    ///   - state: Limits the result to this state.
    /// - Throws: ``RequestError`` for an unknown entity, and when the database cannot be read.
    public func outbox(entity: String? = nil, state: OutboxEntry.State? = nil) async throws -> [OutboxEntry] {
        if let entity { _ = try reader.schema(of: entity) }
        return try await whileOpen(.answeredLocally, entity ?? "") {
            try await reader.run { [reader] in try reader.store.outbox(entity: entity, state: state) }
        }
    }

    /// Makes edits due that were rejected, or that wait for their next try; ``push(_:)`` sends them.
    ///
    /// - Parameters:
    ///   - entries: The numbers of the edits.
    ///   - sendingUnknown: Also resends edits whose arrival is unknown: check the remote first. Otherwise the next push
    ///     checks for them.
    /// - Throws: ``RequestError`` for an edit that does not exist, is being sent, or has an undecided conflict; then
    ///   nothing is changed.
    public func retry(_ entries: [Int64], sendingUnknown: Bool = false) async throws {
        try await whileOpen(.importing, "") {
            try await editing.run { [reader] in
                try reader.store.retryOutbox(entries, sendingUnknown: sendingUnknown)
            }
        }
    }

    /// Drops edits and rolls back their local changes.
    ///
    /// - Parameter entries: The numbers of the edits.
    /// - Throws: ``RequestError`` for an edit that does not exist or is being sent, and when later edits depend on one
    ///   and are not dropped with it; then nothing is changed.
    public func drop(_ entries: [Int64]) async throws {
        try await whileOpen(.importing, "") {
            try await editing.run { [reader] in try reader.store.dropOutbox(entries) }
        }
    }

    /// Returns the values that were changed both here and on the remote, in the order of detection.
    ///
    /// - Parameter entity: Limits the result to this entity.
    /// - Throws: ``RequestError`` for an unknown entity, and when the database cannot be read.
    public func conflicts(entity: String? = nil) async throws -> [EditConflict] {
        if let entity { _ = try reader.schema(of: entity) }
        return try await whileOpen(.answeredLocally, entity ?? "") {
            try await reader.run { [reader] in try reader.store.conflicts(entity: entity, key: nil) }
        }
    }

    /// Decides a conflict.
    ///
    /// An edit without further conflicts is due: ``push(_:)`` sends the local values.
    ///
    /// - Parameters:
    ///   - conflict: One of ``conflicts(entity:)``.
    ///   - side: The side whose value to keep. Where the remote has deleted the object, `.local` re-creates it there
    ///     and `.remote` deletes it here.
    /// - Throws: ``RequestError`` when it was decided meanwhile, or the object's edit is being sent.
    public func resolve(_ conflict: EditConflict, take side: ConflictSide) async throws {
        try await whileOpen(.importing, conflict.entity) {
            try await editing.run { [reader] in
                try reader.store.resolve(
                    entity: conflict.entity, key: conflict.key, column: conflict.column, take: side)
            }
        }
    }

    /// Returns the identity of an edit's object, to read it with `get`.
    ///
    /// - Throws: ``RequestError`` for an entity that the configuration no longer has.
    public func id(of entry: OutboxEntry) throws -> ObjectID {
        let schema = try reader.schema(of: entry.entity)
        return schema.id(of: entry.key, in: schema.layout)
    }

    /// Returns the identity of a conflict's object, to read it with `get`.
    ///
    /// - Throws: ``RequestError`` for an entity that the configuration no longer has.
    public func id(of conflict: EditConflict) throws -> ObjectID {
        let schema = try reader.schema(of: conflict.entity)
        return schema.id(of: conflict.key, in: schema.layout)
    }
}
