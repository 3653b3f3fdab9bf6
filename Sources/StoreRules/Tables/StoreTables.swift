/// The tables of an open transaction, as the rules of all stores see them.
///
/// What is written can be read at once through the same tables, and takes effect when the store commits. Errors are
/// `StoreError`.
package protocol StoreTables:
    RowTables, LinkTables, HistoryTables, UndoTables, OutboxTables, ConflictTables, AcknowledgedTables, ScanTables
{}

extension StoreTables {
    /// Returns whether an object's own listing has ever included it.
    package func hasBeenListed(_ root: Int, _ key: RowKey) throws -> Bool {
        try !isStub(root, key) && !provenance(root, key).contains { !$0.isListed }
    }
}
