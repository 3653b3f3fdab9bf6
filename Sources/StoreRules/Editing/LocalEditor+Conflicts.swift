package import Mapping
internal import Model
package import StoreContract

/// Conflicts of local edits with what the remote has now.
extension LocalEditor {
    /// Resolves conflicts of an object.
    package func resolve(_ entity: String, _ key: [StoredValue], column: String?, take side: ConflictSide) throws {
        guard let index = model.index(of: entity) else {
            throw StoreError(
                .request, "there is no entity \"\(entity)\"", remedy: "`bmo conflicts` lists all conflicts")
        }
        let root = model.entities[index].root
        let all = try conflicts.conflicts(root, key)
        let chosen = column == nil ? all : all.filter { $0.column == column }
        let entries = try outbox.entries(root, key)
        let name = "\(entity) \(key.map(\.description).joined(separator: ", "))"
        guard entries.allSatisfy(\.takesEdits) else {
            throw StoreError(
                .request, "an edit of \(name) is being sent, or its outcome is unknown",
                remedy: "run `bmo push` first")
        }
        let refused = entries.filter { $0.state == .conflict }
        guard !chosen.isEmpty || (column == nil && !refused.isEmpty) else {
            throw StoreError(
                .request, "\(name) has no conflict" + (column.map { " of \($0)" } ?? ""),
                remedy: "`bmo conflicts` lists the existing ones")
        }
        // The remote reported that its object differs, but no import has provided its values.
        if all.isEmpty, side == .remote { return try drop(entries.map(\.id)) }
        if chosen.contains(where: { $0.column == nil }) {
            // What becomes of the object decides about its columns, too.
            try resolveWhole(root, key, take: side)
        } else {
            for conflict in chosen {
                if let column = conflict.column { try resolve(column, conflict, root, key, take: side) }
            }
        }
        guard try conflicts.conflicts(root, key).isEmpty else { return }
        for entry in try outbox.entries(root, key) {
            if let entry = entry.after(.conflictsResolved(newKey: Self.newKey())) { try outbox.update(entry) }
        }
    }

    /// Resolves a conflict of the whole object: the remote deleted an edited object, or changed a deleted one.
    private func resolveWhole(_ root: Int, _ key: [StoredValue], take side: ConflictSide) throws {
        let entries = try outbox.entries(root, key)
        guard let last = entries.last else { return try conflicts.removeConflicts(root, key) }
        switch (last.operation, side) {
        case (.delete, .local): try conflicts.removeConflicts(root, key)
        case (.delete, .remote):
            try drop(last)
            try conflicts.removeConflicts(root, key)
            try restore(last, root)
        case (_, .local): try becomeCreate(root, key)
        case (_, .remote):
            try giveUp(entries, root, key)
            try objects.remove(entity: root, key: key)
        }
    }

    private func resolve(
        _ column: String, _ conflict: EditConflict, _ root: Int, _ key: [StoredValue], take side: ConflictSide
    ) throws {
        let layout = model.entities[root]
        let remote = conflict.remote ?? .null
        try conflicts.removeConflicts(root, key, columns: [column])
        var set = EntrySet(try outbox.entries(root, key), layout, key)
        if let index = layout.toMany.firstIndex(where: { $0.name == column }) {
            let keys = try keys(remote, layout.toMany[index])
            switch side {
            case .local: set.rebaseLinks(column, on: keys)
            case .remote:
                set.dropLinks(column)
                try setLinks(keys, layout, index, of: key)
            }
        } else {
            switch side {
            case .local: set.rebase(column, on: remote)
            case .remote:
                set.drop(column)
                if let row = try objects.row(root, key) {
                    try objects.update(root, key, from: row, to: [(column, remote)])
                }
                try ensureTargets(of: key, layout)
            }
        }
        for (old, entry) in zip(set.original, set.entries) where entry != old {
            if entry.operation == .update, entry.changes.isEmpty, entry.links.isEmpty {
                try drop(old)
            } else {
                try outbox.update(entry)
            }
        }
    }

    // MARK: - Edits of something in conflict

    /// Updates an object's conflicts after one of its edits has changed, and returns what is left of the edit.
    ///
    /// A conflict ends when the local value is now the remote's; else it shows the new local value.
    func settle(_ found: [EditConflict], by entry: OutboxEntry, _ object: EditedObject) throws -> OutboxEntry {
        guard !found.isEmpty else { return entry }
        var entry = entry
        var left = found.count
        for var conflict in found {
            guard let name = conflict.column, let local = try local(name, entry, object.layout, conflict.remote) else {
                continue
            }
            if local.isRemote {
                entry.changes.removeAll { $0.name == name }
                entry.links.removeAll { $0.relationship == name }
                try conflicts.removeConflicts(object.root, object.key, columns: [name])
                left -= 1
            } else {
                conflict.local = local.value
                try conflicts.noteConflict(conflict, root: object.root)
            }
        }
        guard left == 0 else { return entry }
        return entry.after(.conflictsResolved(newKey: Self.newKey())) ?? entry
    }

    /// Returns the local value of a column or list of an edit, as a conflict has it, and whether the remote has the same;
    /// nil if the edit does not set it.
    private func local(
        _ name: String, _ entry: OutboxEntry, _ layout: EntityLayout, _ remote: StoredValue?
    ) throws -> (value: StoredValue, isRemote: Bool)? {
        if let toMany = layout.toMany.first(where: { $0.name == name }) {
            guard let keys = entry.links.first(where: { $0.relationship == name })?.new else { return nil }
            let isRemote = try remote.map { toMany.isSame(try self.keys($0, toMany), keys) } ?? false
            return (.text(JSONText.keys(keys).string), isRemote)
        }
        guard let value = entry.changes.first(where: { $0.name == name })?.new else { return nil }
        let type = layout.type(of: name) ?? .text
        return (value, remote?.isSame(as: value, type) == true)
    }
}
