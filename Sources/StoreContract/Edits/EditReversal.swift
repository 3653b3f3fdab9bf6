package import Mapping

/// The reversal of a change that a run of local edits made, while the edit waits in the outbox.
package enum EditReversal {
    /// The edit was pushed, or the row was edited later.
    case refused(String)
    /// The delete is dropped, the row restored, and then these columns and lists set, which the delete had replaced.
    case restore([RowChange.Column], lists: [(relationship: String, keys: [[StoredValue]])])
    /// The create is dropped.
    case dropCreate
    /// The columns and lists get their old values, or those that the remote has now, by another edit.
    case edit([RowChange.Column], lists: [(relationship: String, keys: [[StoredValue]])])

    /// What the remote has in a column or list.
    package enum Remote {
        case value(StoredValue)
        case list([[StoredValue]])
    }

    /// Decides how to revert a change.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - entries: The object's entries that have the run's edit, in order; none if it does not wait, or may have arrived.
    ///     A create that was split, as its references form a cycle, is two.
    ///   - row: The row as it is now, one value per field of the layout; nil if there is none.
    ///   - layout: The layout of the object's table.
    ///   - isFirst: Returns whether no earlier run set a column or list that waits, so that it had the remote's value before.
    ///   - remote: Returns what the remote has now in a column or list with a conflict; nil without one.
    ///   - list: Returns the object's list of a relationship, by its index in the layout.
    package init(
        _ change: RowChange, _ entries: [OutboxEntry], row: [StoredValue]?, _ layout: EntityLayout,
        isFirst: (String) -> Bool, remote: (String) throws -> Remote?, list: (Int) throws -> [[StoredValue]]
    ) rethrows {
        guard let last = entries.last else {
            self = .refused("the remote has it or may have it, or it was edited later; make the opposite edit")
            return
        }
        let isNew = entries.contains { $0.operation == .create }
        let isAsLeft = change.columns.allSatisfy { column in
            guard let field = layout.fields.firstIndex(where: { $0.name == column.name }) else { return false }
            return row?[field] == column.new ?? .null
        }
        switch change.kind {
        case .deleted, .stubbed:
            guard last.operation == .delete else {
                self = .refused("it was created again later")
                return
            }
            // An earlier edit, which the delete had replaced, is made again; everything else is as the remote has it.
            let deletion = layout.deletion.map { layout.fields[$0].name }
            let columns = change.columns.filter { $0.name != deletion && !isFirst($0.name) }
            let links = change.links.filter { !isFirst($0.relationship) }
            self = .restore(columns, lists: links.map { ($0.relationship, $0.old) })
        case .inserted:
            self = isNew && isAsLeft ? .dropCreate : .refused("it was edited later")
        case .updated, .relinked, .loaded:
            guard last.operation != .delete, isAsLeft else {
                self = .refused("it was edited later")
                return
            }
            // Where the remote changed the object since, its present values are what the edit is taken back to.
            let columns = try change.columns.compactMap { column -> RowChange.Column? in
                guard isFirst(column.name), !isNew else { return column }
                // Nothing of it waits where the remote has the same value by now.
                guard var old = last.changes.first(where: { $0.name == column.name })?.old else { return nil }
                if case .value(let value)? = try remote(column.name) { old = value }
                return RowChange.Column(name: column.name, old: old, new: column.new)
            }
            var lists: [(relationship: String, keys: [[StoredValue]])] = []
            for links in change.links {
                if isFirst(links.relationship), !isNew,
                    let edit = last.links.first(where: { $0.relationship == links.relationship })
                {
                    var old = edit.old
                    if case .list(let keys)? = try remote(links.relationship) { old = keys }
                    lists.append((links.relationship, old))
                    continue
                }
                guard let index = layout.toMany.firstIndex(where: { $0.name == links.relationship }),
                    let start = links.at
                else {
                    self = .refused("its \(links.relationship) can no longer be determined")
                    return
                }
                var now = try list(index)
                let end = start + links.new.count
                guard end <= now.count, Array(now[start..<end]) == links.new else {
                    self = .refused("its \(links.relationship) are not as the run left them")
                    return
                }
                now.replaceSubrange(start..<end, with: links.old)
                lists.append((links.relationship, now))
            }
            self = .edit(columns, lists: lists)
        }
    }
}

extension RowChange {
    /// Returns a run's changes in the order in which they are reverted: references to a new object before the object.
    package static func inOrderOfReversal(_ changes: [RowChange]) -> [RowChange] {
        let order: [Kind: Int] = [.inserted: 2, .stubbed: 1, .deleted: 0]
        return changes.sorted { order[$0.kind] ?? 0 < order[$1.kind] ?? 0 }
    }
}
