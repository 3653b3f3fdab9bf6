package import StoreContract

/// The local edits of all objects; see ``DatabaseTables``.
package protocol EditListTables: AnyObject {
    /// Returns the entries of the outbox, in order of creation.
    func entries() throws -> [OutboxEntry]

    /// Returns the first entry that may be sent at an instant.
    ///
    /// - Parameters:
    ///   - instant: The time as ISO 8601.
    ///   - entities: The entities of the entries that `fits` may accept; nil for all.
    ///   - ids: The IDs of those entries; nil for all.
    ///   - fits: Returns whether to consider an entry.
    func nextToSend(
        at instant: String, of entities: Set<String>?, among ids: Set<Int64>?, where fits: (OutboxEntry) -> Bool
    ) throws -> OutboxEntry?

    /// Returns the conflicts of all objects, in order of discovery.
    func allConflicts() throws -> [EditConflict]

    /// Returns the ID of the newest edit that the remote accepted during a scan; 0 without one.
    func newestAcknowledged() throws -> Int64
}
