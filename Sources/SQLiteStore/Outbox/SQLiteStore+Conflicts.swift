internal import GRDB
public import StoreContract
internal import StoreRules
public import Mapping

extension SQLiteStore {
    /// Returns the columns that were changed both locally and on the remote, in order of discovery.
    ///
    /// - Throws: `StoreError`.
    public func conflicts(entity: String? = nil, key: [StoredValue]? = nil) throws -> [EditConflict] {
        try read("reading the conflicts") { db in
            try ConflictTable(model, on: db.sqliteConnection).all(key: key, entity: entity)
        }
    }

    /// Resolves conflicts of an object, recorded as a run of kind `resolve`; entries without further conflicts are sent
    /// again.
    ///
    /// With the local side, the edit is sent unchanged; for an object that the remote deleted, it becomes a create.
    /// With the remote side, the edit is dropped, and the row gets the remote's values.
    ///
    /// - Parameters:
    ///   - entity: The object's entity.
    ///   - key: The object's key.
    ///   - column: The column or relationship to resolve; nil for all.
    ///   - take: The side whose values win.
    /// - Throws: `StoreError` of code `request` if the conflict does not exist, or the object's edit is being sent.
    public func resolve(entity: String, key: [StoredValue], column: String? = nil, take: ConflictSide) throws {
        _ = try changeRows("resolve", "deciding a conflict") { editor in
            try editor.resolve(entity, key, column: column, take: take)
        }
    }

    /// Makes entries due now that were refused, are in conflict with the remote, or wait for a later attempt.
    ///
    /// An entry with unknown outcome is still read back first, unless the caller has checked it.
    ///
    /// - Parameters:
    ///   - ids: The entries' IDs.
    ///   - sendingUnknown: Whether to send these entries again too, with the same idempotency key.
    /// - Throws: `StoreError` of code `request` for an entry that does not exist, is being sent, or has unresolved
    ///   conflicts. Nothing is changed then.
    public func retryOutbox(_ ids: [Int64], sendingUnknown: Bool = false) throws {
        try changeOutbox("trying edits again") { try $0.retry(ids, sendingUnknown: sendingUnknown) }
    }

    /// Drops entries and rolls back their local changes, recorded as a run of kind `drop`.
    ///
    /// Columns get the remote's values, as far as imports have provided them since the edit; a new object is deleted,
    /// and a deleted one is restored.
    ///
    /// - Throws: `StoreError` of code `request` for an entry that does not exist or is being sent, or if later edits
    ///   depend on one and are not dropped with it. Nothing is changed then.
    public func dropOutbox(_ ids: [Int64]) throws {
        _ = try changeRows("drop", "dropping edits") { editor in try editor.drop(ids) }
    }
}
