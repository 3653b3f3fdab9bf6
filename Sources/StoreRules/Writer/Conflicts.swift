internal import Mapping
package import StoreContract

/// The columns that were changed both locally and on the remote, in an open transaction.
package struct Conflicts {
    let tables: any StoreTables

    package init(_ tables: any StoreTables) { self.tables = tables }

    /// Saves a conflict; updates the remote value of a known one.
    func note(_ conflict: EditConflict, root: Int) throws {
        var all = try tables.conflicts()
        let known = all.firstIndex {
            $0.root == root && $0.conflict.key == conflict.key && $0.conflict.column == conflict.column
        }
        if let known {
            all[known].conflict = conflict
        } else {
            all.append(StoredConflict(root: root, conflict: conflict))
        }
        try tables.setConflicts(all)
    }

    /// Returns the conflicts, optionally only those of an object or entity.
    package func all(root: Int? = nil, key: RowKey? = nil, entity: String? = nil) throws -> [EditConflict] {
        try tables.conflicts().filter { stored in
            (root == nil || stored.root == root) && (key == nil || stored.conflict.key == key)
                && (entity == nil || stored.conflict.entity == entity)
        }.map(\.conflict)
    }

    /// Returns the first undecided conflict of an entry's object.
    package func first(of entry: OutboxEntry) throws -> EditConflict? {
        try Outbox(tables).root(of: entry).flatMap { try all(root: $0, key: entry.key).first }
    }

    /// Returns the remote values of the columns in conflict.
    func remoteValues(_ root: Int, _ key: RowKey) throws -> [String: StoredValue] {
        let values = try all(root: root, key: key).compactMap { conflict in
            conflict.column.flatMap { column in conflict.remote.map { (column, $0) } }
        }
        return Dictionary(values, uniquingKeysWith: { $1 })
    }

    /// Deletes the conflicts of an object; those of the whole object have the column "".
    ///
    /// - Parameter columns: The columns to consider; nil for all.
    func remove(_ root: Int, _ key: RowKey, columns: [String]? = nil) throws {
        let all = try tables.conflicts()
        let left = all.filter { stored in
            guard stored.root == root, stored.conflict.key == key else { return true }
            return columns.map { !$0.contains(stored.conflict.column ?? "") } ?? false
        }
        if left.count < all.count { try tables.setConflicts(left) }
    }

    /// Moves the conflicts of an object to another key.
    func rename(_ root: Int, _ old: RowKey, to new: RowKey) throws {
        let columns = try all(root: root, key: old).map { $0.column ?? "" }
        guard !columns.isEmpty else { return }
        try remove(root, new, columns: columns)
        var all = try tables.conflicts()
        for index in all.indices where all[index].root == root && all[index].conflict.key == old {
            all[index].conflict.key = new
        }
        try tables.setConflicts(all)
    }
}
