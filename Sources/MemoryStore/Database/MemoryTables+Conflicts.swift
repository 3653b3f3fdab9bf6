internal import Mapping
internal import StoreContract
internal import StoreRules

/// The columns that were changed both locally and on the remote.
extension MemoryTables {
    func noteConflict(_ conflict: EditConflict, root: Int) {
        let name = name(root)
        let known = state.conflicts.firstIndex {
            $0.root == name && $0.conflict.key == conflict.key && $0.conflict.column == conflict.column
        }
        if let known {
            state.conflicts[known].conflict = conflict
        } else {
            state.conflicts.append((name, conflict))
        }
    }

    func allConflicts() -> [EditConflict] { state.conflicts.map(\.conflict) }

    func conflicts(_ root: Int, _ key: RowKey) -> [EditConflict] {
        let name = name(root)
        return state.conflicts.filter { $0.root == name && $0.conflict.key == key }.map(\.conflict)
    }

    func removeConflicts(_ root: Int, _ key: RowKey, columns: [String]?) {
        let name = name(root)
        state.conflicts.removeAll { stored in
            stored.root == name && stored.conflict.key == key
                && columns?.contains(stored.conflict.column ?? "") != false
        }
    }

    func renameConflicts(_ root: Int, from old: RowKey, to new: RowKey) {
        let columns = conflicts(root, old).map { $0.column ?? "" }
        removeConflicts(root, new, columns: columns)
        let name = name(root)
        for index in state.conflicts.indices
        where state.conflicts[index].root == name && state.conflicts[index].conflict.key == old {
            state.conflicts[index].conflict.key = new
        }
    }
}
