package import StoreContract

/// The outbox, the accepted edits of open scans, and the conflicts, in an open transaction.
package protocol OutboxTables: AnyObject {
    /// Returns all entries, in order of creation.
    func entries() throws -> [OutboxEntry]

    /// Returns the entries of an object, in order of creation.
    func entries(_ root: Int, _ key: RowKey) throws -> [OutboxEntry]

    /// Returns an entry; nil if there is none with this ID.
    func entry(_ id: Int64) throws -> OutboxEntry?

    /// Returns the ID of the next entry; IDs are never used twice.
    func nextEntryID() throws -> Int64

    /// Adds an entry under the next ID, which it returns, on behalf of a run.
    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64

    /// Replaces an entry, on behalf of a run if given.
    func update(_ entry: OutboxEntry, run: Int64?) throws

    /// Deletes an entry, if it exists.
    func removeEntry(_ id: Int64) throws

    /// Returns the runs that contributed to an entry.
    func runs(ofEntry id: Int64) throws -> [Int64]

    /// Moves an object's entries to another key.
    func renameEntries(_ root: Int, from old: RowKey, to new: RowKey, isTemporary: Bool) throws

    /// Returns the edits of an object that the remote accepted after the one with an ID, in order.
    func acknowledged(_ root: Int, _ key: RowKey, after id: Int64) throws -> [OutboxEntry]

    /// Saves an edit that the remote accepted, under a new ID.
    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: RowKey) throws

    /// Returns all conflicts, in order of discovery.
    func conflicts() throws -> [StoredConflict]

    /// Replaces all conflicts.
    func setConflicts(_ conflicts: [StoredConflict]) throws
}

/// A conflict, with the entity that has the object's table.
package struct StoredConflict: Sendable, Equatable {
    package var root: Int
    package var conflict: EditConflict

    package init(root: Int, conflict: EditConflict) {
        self.root = root
        self.conflict = conflict
    }
}
