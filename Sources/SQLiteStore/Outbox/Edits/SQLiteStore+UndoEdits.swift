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
            // References to a new object are reverted before the object itself.
            let order: [RowChange.Kind: Int] = [.inserted: 2, .stubbed: 1, .deleted: 0]
            for change in changes.sorted(by: { order[$0.kind] ?? 0 < order[$1.kind] ?? 0 }) {
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
        guard try outbox.isWaiting(run: run, root, key), let entry = try outbox.entries(root, key).last else {
            return "the remote has it already, or it was edited later; make the opposite edit"
        }
        let row = try writers.remover.editor(root).row(key)
        func isAsLeft() -> Bool {
            change.columns.allSatisfy { column in
                guard let field = layout.fields.firstIndex(where: { $0.name == column.name }) else { return false }
                return row?[field] == column.new ?? .null
            }
        }
        switch change.kind {
        case .deleted, .stubbed:
            guard entry.operation == .delete else { return "it was made again later" }
            try drop(entry, root: root)
            try restore(entry, root)
            // Restores the row with the edits that the delete had replaced.
            let values = change.columns.filter { column in
                entry.changes.first { $0.name == column.name }?.old != column.old
            }
            return try edit(entry.entity, key, values, change.links.map { ($0.relationship, $0.old) })
        case .inserted:
            guard entry.operation == .create, isAsLeft() else { return "it was edited later" }
            try drop([entry.id])
            return nil
        case .updated, .relinked, .loaded:
            guard entry.operation != .delete, isAsLeft() else { return "it was edited later" }
            var lists: [(String, [[StoredValue]])] = []
            for links in change.links {
                guard let index = layout.toMany.firstIndex(where: { $0.name == links.relationship }),
                    let start = links.at
                else { return "its \(links.relationship) cannot be told any more" }
                var now = try writers.links(root, index).keys(of: key)
                guard start + links.new.count <= now.count, Array(now[start..<start + links.new.count]) == links.new
                else { return "its \(links.relationship) are not as the run left them" }
                now.replaceSubrange(start..<start + links.new.count, with: links.old)
                lists.append((links.relationship, now))
            }
            return try edit(entry.entity, key, change.columns, lists)
        }
    }

    private func edit(
        _ entity: String, _ key: [StoredValue], _ columns: [RowChange.Column], _ lists: [(String, [[StoredValue]])]
    ) throws -> String? {
        _ = try make(
            LocalEdit(
                .update, entity: entity, key: key,
                values: Dictionary(columns.map { ($0.name, $0.old ?? .null) }, uniquingKeysWith: { $1 }),
                links: Dictionary(lists, uniquingKeysWith: { $1 })))
        return nil
    }
}
