public import Mapping

/// What the bookkeeping knows: each entity's status, the quarantine, and fields that nothing reads.
///
/// ```swift
/// for entity in try store.status() where entity.quarantined > 0 {
///     for entry in try store.quarantined(entity: entity.name) { print(entry.record.reason) }
/// }
/// ```
///
/// Calls may come from any thread, in any order; each reads one snapshot, without an open page. Errors are ``StoreError``.
public protocol BookkeepingStore: AnyObject, Sendable {
    /// Returns the status of each entity of the model.
    func status() throws -> [EntityStatus]

    /// Returns the keys of an entity's stubs as JSON arrays, in order.
    func stubs(of entity: String) throws -> [String]

    /// Returns the quarantined records, oldest first.
    ///
    /// - Parameter entity: Returns only records of this entity; nil for all.
    func quarantined(entity: String?) throws -> [QuarantineEntry]

    /// Returns the number of an entity's records quarantined since `instant`; 0 if that is empty.
    func quarantinedCount(of entity: String, since instant: String) throws -> Int

    /// Removes a record from quarantine, as part of the open page.
    func removeQuarantined(_ id: Int64) throws

    /// Returns the fields of remote records that nothing reads, by entity and path.
    ///
    /// - Parameter instant: Returns only fields that first occurred since this time, as ISO 8601; empty for all.
    func unknownFields(since instant: String) throws -> [UnknownFieldRecord]

    /// Returns the values in the column of unknown fields that are not null; empty if the entity has no such column.
    func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue]
}

extension BookkeepingStore {
    /// Returns all quarantined records, oldest first.
    public func quarantined() throws -> [QuarantineEntry] { try quarantined(entity: nil) }

    /// Returns the fields of remote records that nothing reads, by entity and path.
    public func unknownFields() throws -> [UnknownFieldRecord] { try unknownFields(since: "") }
}
