internal import Mapping
package import StoreContract

/// The reversal of runs of local edits.
extension LocalEditor {
    /// Makes the edits that revert a run of local edits, which were not pushed yet.
    ///
    /// - Throws: ``UndoRefusal`` if the rows have changed since; ``StoreError`` if an edit was sent.
    package func undo(_ changes: [RowChange], of run: Int64) throws {
        var conflicts: [UndoConflict] = []
        // References to a new object are reverted before the object itself.
        let order: [RowChange.Kind: Int] = [.inserted: 2, .stubbed: 1, .deleted: 0]
        for change in changes.sorted(by: { order[$0.kind] ?? 0 < order[$1.kind] ?? 0 }) {
            if let reason = try takeBack(change, of: run) {
                conflicts.append(
                    UndoConflict(entity: change.entity, key: JSONText.key(change.key).string, reason: reason))
            }
        }
        guard conflicts.isEmpty else {
            throw UndoRefusal(run: run, conflicts: conflicts, count: conflicts.count)
        }
    }

    /// Makes the edit that reverts a run's change of a row; returns the reason if that is impossible.
    private func takeBack(_ change: RowChange, of run: Int64) throws -> String? {
        guard let index = model.index(of: change.entity) else { return "the configuration has no such entity any more" }
        let root = model.entities[index].root
        let key = change.key
        let layout = model.entities[root]
        guard try outbox.isWaiting(run: run, root, key), let entry = try outbox.entries(root, key).last else {
            return "the remote has it already, or it was edited later; make the opposite edit"
        }
        let row = try writer.editor(root).row(key)
        func isAsLeft() -> Bool {
            change.columns.allSatisfy { column in
                guard let field = layout.fields.firstIndex(where: { $0.name == column.name }) else { return false }
                return row?[field] == column.new ?? .null
            }
        }
        switch change.kind {
        case .deleted, .stubbed:
            guard entry.operation == .delete else { return "it was created again later" }
            try drop(entry)
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
                else { return "its \(links.relationship) can no longer be determined" }
                var now = try writer.links(root, index).keys(of: key)
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
