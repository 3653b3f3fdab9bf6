package import StoreContract

/// The local edits of all objects; see ``DatabaseTables``.
package protocol EditListTables: AnyObject {
    /// Returns the entries of the outbox, in order of creation.
    func entries() throws -> [OutboxEntry]

    /// Returns the conflicts of all objects, in order of discovery.
    func allConflicts() throws -> [EditConflict]

    /// Returns the ID of the newest edit that the remote accepted during a scan; 0 without one.
    func newestAcknowledged() throws -> Int64
}
