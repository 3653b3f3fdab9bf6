package import StoreContract

/// What a database keeps about records and listings besides rows; see ``DatabaseTables``.
package protocol BookTables: AnyObject {
    /// Stores a record that could not be imported; one that fails repeatedly for the same reason is stored once.
    func quarantine(_ record: QuarantinedRecord) throws

    /// Returns the quarantined records of an entity, oldest first; nil stands for all entities.
    ///
    /// - Parameter instant: Leaves out records that were seen at that time or later; nil returns all.
    func quarantined(entity: String?, notSeenSince instant: String?) throws -> [QuarantineEntry]

    /// Returns the number of an entity's records seen at a time or later.
    func quarantinedCount(of entity: String, since instant: String) throws -> Int

    /// Removes records from quarantine.
    func release(_ ids: [Int64]) throws

    /// Returns whether a record of an entity may be in quarantine whose key is known.
    func mayHaveQuarantined(_ entity: String) throws -> Bool

    /// Removes the records of objects from quarantine.
    ///
    /// - Parameter source: The further source that the records come from, empty for the entity's own bridge; nil for any.
    func release(_ keys: [String], of entities: [String], from source: String?) throws

    /// Stores a field that nothing reads, with the time of its first occurrence.
    func noteUnknownField(_ path: String, of entity: String) throws

    /// Returns the fields that nothing reads and that first occurred since a time, by entity and path.
    func unknownFields(since instant: String) throws -> [UnknownFieldRecord]
}
