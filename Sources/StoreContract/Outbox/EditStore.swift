public import Mapping

/// Local edits and their conflicts with the remote.
///
/// Each call is one transaction that changes rows and outbox together, and is recorded as a run of its own. It waits up
/// to 30 seconds for another process's page; the store itself must not have an open page. Calls may come from any thread,
/// in any order.
///
/// ```swift
/// let receipts = try store.edit([LocalEdit(.update, entity: "City", key: [.integer(7)], values: ["name": .text("Ulm")])])
/// ```
///
/// Errors are ``StoreError``: `request` for what cannot be done, with the reason, and `busy`; nothing is changed then.
public protocol EditStore: AnyObject, Sendable {
    /// Makes local edits and their outbox entries, when later ones may need the keys assigned to earlier ones.
    ///
    /// - Parameters:
    ///   - edits: Closures that return the edits; each receives the receipts of those before it.
    ///   - joining: Whether the edits may join pending edits of the same objects. If not, such edits are refused, so
    ///     that dropping these entries later affects only these edits.
    /// - Returns: One receipt per edit.
    func edit(inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool) throws -> [EditReceipt]

    /// Returns the columns that were changed both locally and on the remote, in order of discovery.
    ///
    /// - Parameters:
    ///   - entity: Returns only conflicts of this entity; nil for all.
    ///   - key: Returns only conflicts of the object with this key; nil for all.
    func conflicts(entity: String?, key: [StoredValue]?) throws -> [EditConflict]

    /// Resolves conflicts of an object; entries without further conflicts are sent again.
    ///
    /// With the local side, the edit is sent unchanged; for an object that the remote deleted, it becomes a create.
    /// With the remote side, the edit is dropped, and the row gets the remote's values.
    ///
    /// - Parameters:
    ///   - entity: The object's entity.
    ///   - key: The object's key.
    ///   - column: The column or relationship to resolve; nil for all.
    ///   - take: The side whose values win.
    func resolve(entity: String, key: [StoredValue], column: String?, take: ConflictSide) throws

    /// Makes entries due now that were refused, are in conflict with the remote, or wait for a later attempt.
    ///
    /// An entry with unknown outcome is still read back first, unless the caller has checked it.
    ///
    /// - Parameters:
    ///   - ids: The entries' IDs.
    ///   - sendingUnknown: Whether to send these entries again too, with the same idempotency key.
    func retryOutbox(_ ids: [Int64], sendingUnknown: Bool) throws

    /// Drops entries and rolls back their local changes.
    ///
    /// Columns get the remote's values, as far as imports have brought them since the edit; a new object is deleted,
    /// and a deleted one is restored.
    func dropOutbox(_ ids: [Int64]) throws
}

extension EditStore {
    /// Makes local edits and their outbox entries; see ``edit(inTurn:joining:)``.
    public func edit(_ edits: [LocalEdit], joining: Bool = true) throws -> [EditReceipt] {
        try edit(inTurn: edits.map { edit in { _ in edit } }, joining: joining)
    }

    /// Makes local edits that may join pending ones; see ``edit(inTurn:joining:)``.
    public func edit(inTurn edits: [([EditReceipt]) throws -> LocalEdit]) throws -> [EditReceipt] {
        try edit(inTurn: edits, joining: true)
    }

    /// Returns all conflicts, in order of discovery.
    public func conflicts() throws -> [EditConflict] { try conflicts(entity: nil, key: nil) }

    /// Resolves all conflicts of an object; see ``resolve(entity:key:column:take:)``.
    public func resolve(entity: String, key: [StoredValue], take: ConflictSide) throws {
        try resolve(entity: entity, key: key, column: nil, take: take)
    }

    /// Makes entries due now; see ``retryOutbox(_:sendingUnknown:)``.
    public func retryOutbox(_ ids: [Int64]) throws { try retryOutbox(ids, sendingUnknown: false) }
}
