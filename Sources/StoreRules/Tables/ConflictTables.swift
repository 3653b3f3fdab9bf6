package import Mapping
package import StoreContract

/// The columns that were changed both locally and on the remote, in an open transaction.
package protocol ConflictTables: AnyObject {
    /// Saves a conflict; updates the values of a known one.
    func noteConflict(_ conflict: EditConflict, root: Int) throws

    /// Returns the conflicts of an object, in order of discovery.
    func conflicts(_ root: Int, _ key: RowKey) throws -> [EditConflict]

    /// Deletes the conflicts of an object; those of the whole object have the column "".
    ///
    /// - Parameter columns: The columns to consider; nil for all.
    func removeConflicts(_ root: Int, _ key: RowKey, columns: [String]?) throws

    /// Moves the conflicts of an object to another key.
    func renameConflicts(_ root: Int, from old: RowKey, to new: RowKey) throws
}

extension ConflictTables {
    /// Deletes all conflicts of an object.
    func removeConflicts(_ root: Int, _ key: RowKey) throws { try removeConflicts(root, key, columns: nil) }

    /// Returns the remote values of the columns in conflict.
    func remoteValues(_ root: Int, _ key: RowKey) throws -> [String: StoredValue] {
        let values = try conflicts(root, key).compactMap { conflict in
            conflict.column.flatMap { column in conflict.remote.map { (column, $0) } }
        }
        return Dictionary(values, uniquingKeysWith: { $1 })
    }

    /// Returns the first undecided conflict of an entry's object.
    package func firstConflict(of entry: OutboxEntry, in model: CompiledModel) throws -> EditConflict? {
        try model.root(of: entry).flatMap { try conflicts($0, entry.key).first }
    }
}
