internal import GRDB
internal import StoreContract
internal import Mapping

extension SQLiteStore {
    /// Reverts a run of local edits that were not pushed yet, and updates the outbox accordingly.
    ///
    /// - Throws: ``UndoRefusal`` if the rows have changed since; ``StoreError`` if an edit was sent.
    func undoEdits(of run: RunRecord) throws -> Int64 {
        var changes: [RowChange] = []
        try self.changes(of: run.id) { changes.append($0) }
        let undone = try changeRows("undo", "undoing run \(run.id)", undoes: run.id) { editor in
            var conflicts: [UndoConflict] = []
            for change in RowChange.inOrderOfReversal(changes) {
                if let reason = try editor.takeBack(change, of: run.id) {
                    conflicts.append(
                        UndoConflict(
                            entity: change.entity, key: JSONText.key(change.key).string, reason: reason))
                }
            }
            guard conflicts.isEmpty else {
                throw UndoRefusal(run: run.id, conflicts: conflicts, count: conflicts.count)
            }
        }
        guard let id = undone.run else { throw StoreError(.internal, "run \(run.id) had nothing to undo") }
        return id
    }
}

extension LocalEditor {
    /// Makes the edit that reverts a run's change of a row; returns the reason if that is impossible.
    fileprivate func takeBack(_ change: RowChange, of run: Int64) throws -> String? {
        guard let index = model.index(of: change.entity) else { return "the configuration has no such entity any more" }
        let root = model.entities[index].root
        let key = change.key
        let layout = model.entities[root]
        let isWaiting = try outbox.isWaiting(run: run, root, key)
        let entry = try isWaiting ? outbox.entries(root, key).last : nil
        let row = try rowEditors(root).row(key)
        let reversal = try EditReversal(change, entry, row: row, layout) {
            try linkWriters(root, $0).keys(of: key)
        }
        switch reversal {
        case .refused(let reason): return reason
        case .restore(let columns, let lists):
            guard let entry else { return nil }
            try drop(entry, root: root)
            try restore(entry, root)
            try edit(entry.entity, key, columns, lists)
        case .dropCreate: try drop(entry.map { [$0.id] } ?? [])
        case .edit(let columns, let lists): try edit(entry?.entity ?? change.entity, key, columns, lists)
        }
        return nil
    }

    private func edit(
        _ entity: String, _ key: [StoredValue], _ columns: [RowChange.Column],
        _ lists: [(relationship: String, keys: [[StoredValue]])]
    ) throws {
        _ = try make(
            LocalEdit(
                .update, entity: entity, key: key,
                values: Dictionary(columns.map { ($0.name, $0.old ?? .null) }, uniquingKeysWith: { $1 }),
                links: Dictionary(lists.map { ($0.relationship, $0.keys) }, uniquingKeysWith: { $1 })))
    }
}
