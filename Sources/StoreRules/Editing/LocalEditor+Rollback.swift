internal import Mapping
internal import RecordBatch
internal import StoreContract

/// The reversal of local edits to the remote's values, as far as they are known.
extension LocalEditor {
    /// Drops entries and reverts their objects to the remote's state.
    ///
    /// - Throws: ``StoreError`` if later edits depend on them.
    package func drop(_ ids: [Int64]) throws {
        var readable: [Int64] = []
        for id in Set(ids).sorted() {
            // Without its content, the row cannot be taken back.
            if try outbox.removeDamaged(id) { try objects.noteDropped(id) } else { readable.append(id) }
        }
        let entries = try readable.map { id in
            guard let entry = try outbox.entry(id) else { throw OutboxEntry.missing(id) }
            guard entry.state != .sending else {
                throw StoreError(
                    .request, "edit \(id) is being sent", remedy: "wait for `bmo push` to end, or run it")
            }
            return entry
        }
        try checkDependants(of: entries)
        for entry in OutboxEntry.inOrderOfDropping(entries) { try takeBack(entry) }
    }

    private func checkDependants(of entries: [OutboxEntry]) throws {
        let ids = Set(entries.map(\.id))
        var others: Set<Int64> = []
        for entry in entries {
            if let root = model.root(of: entry) {
                others.formUnion(try outbox.entries(root, entry.key).map(\.id).filter { $0 > entry.id })
            }
            others.formUnion(try outbox.dependants(of: entry.id).map(\.id))
        }
        others.subtract(ids)
        guard !others.isEmpty else { return }
        let list = others.sorted().map(String.init).joined(separator: ", ")
        throw StoreError(
            .request, "later edits depend on it: \(list)",
            remedy: "drop these too: `bmo outbox drop` accepts several ids")
    }

    private func takeBack(_ entry: OutboxEntry) throws {
        guard let root = model.root(of: entry) else {
            return try drop(entry)
        }
        let found = try conflicts.conflicts(root, entry.key)
        try drop(entry)
        let left = try outbox.entries(root, entry.key)
        switch entry.operation {
        case .create:
            let object = EditedObject(root: root, layout: model.entities[root], key: entry.key)
            if entry.hasGeneratedKey { try checkUnreferred(object) }
            try objects.removeAlone(root, entry.key, isFinal: true)
        case .update:
            let isDeleted = left.isEmpty && found.contains { $0.column == nil }
            // A row that stays as a deleted one has the remote's last values.
            if !isDeleted || model.entities[root].deletion != nil { try takeBack(entry, root, left, found) }
            if isDeleted {
                try conflicts.removeConflicts(root, entry.key)
                try objects.remove(entity: root, key: entry.key)
                return
            }
        case .delete: try restore(entry, root)
        }
        if left.isEmpty {
            try conflicts.removeConflicts(root, entry.key)
        } else {
            let names = Set(left.flatMap { $0.changes.map(\.name) + $0.links.map(\.relationship) })
            try conflicts.removeConflicts(
                root, entry.key, columns: found.compactMap(\.column).filter { !names.contains($0) })
        }
    }

    private func takeBack(
        _ entry: OutboxEntry, _ root: Int, _ left: [OutboxEntry], _ found: [EditConflict]
    ) throws {
        let layout = model.entities[root]
        guard let row = try objects.row(root, entry.key) else { return }
        func remote(_ name: String, isFirst: Bool) -> StoredValue? {
            isFirst ? found.first { $0.column == name }?.remote : nil
        }
        let columns = entry.changes.map { change in
            let isFirst = !left.contains { $0.id < entry.id && $0.changes.contains { $0.name == change.name } }
            return (name: change.name, value: remote(change.name, isFirst: isFirst) ?? change.old ?? .null)
        }
        try objects.update(root, entry.key, from: row, to: columns)
        try ensureTargets(of: entry.key, layout)
        for link in entry.links {
            guard let index = layout.toMany.firstIndex(where: { $0.name == link.relationship }) else { continue }
            let isFirst = !left.contains { other in
                other.id < entry.id && other.links.contains { $0.relationship == link.relationship }
            }
            let keys = try remote(link.relationship, isFirst: isFirst).map { try self.keys($0, layout.toMany[index]) }
            try setLinks(keys ?? link.old, layout, index, of: entry.key)
        }
    }

    /// Gives up the edits of an object that the remote deleted, before its row is.
    ///
    /// A row that stays as a deleted one has the remote's last values again.
    func giveUp(_ entries: [OutboxEntry], _ root: Int, _ key: [StoredValue]) throws {
        let found = try conflicts.conflicts(root, key)
        for entry in entries.reversed() {
            try drop(entry)
            guard model.entities[root].deletion != nil else { continue }
            try takeBack(entry, root, entries.filter { $0.id < entry.id }, found)
        }
        try conflicts.removeConflicts(root, key)
    }

    /// Restores a row that was deleted locally, with the values that the remote has provided since.
    func restore(_ entry: OutboxEntry, _ root: Int) throws {
        let layout = model.entities[root]
        var columns = entry.changes.compactMap { change in change.old.map { (name: change.name, value: $0) } }
        if let field = layout.deletion { columns.append((layout.fields[field].name, .null)) }
        if let row = try objects.row(root, entry.key) {
            let isStub = try objects.isStub(root, entry.key)
            try objects.update(root, entry.key, from: row, to: columns, as: isStub ? .inserted : .updated)
        } else {
            try objects.insert(root, entry.key, columns, isStub: false)
        }
        try ensureTargets(of: entry.key, layout)
        for link in entry.links {
            guard let index = layout.toMany.firstIndex(where: { $0.name == link.relationship }) else { continue }
            try setLinks(link.old, layout, index, of: entry.key)
        }
    }

    /// Turns the edits of an object that the remote deleted into a create.
    func becomeCreate(_ root: Int, _ key: [StoredValue]) throws {
        guard let row = try objects.row(root, key), let last = try outbox.entries(root, key).last,
            let index = model.index(of: last.entity)
        else { return }
        let layout = model.entities[index]
        for entry in try outbox.entries(root, key) where entry.id != last.id { try outbox.removeEntry(entry) }
        try conflicts.removeConflicts(root, key)
        let plan = OutgoingPlan(of: index, in: model)
        let keyNames = Set(layout.key.map { layout.fields[$0].name })
        let entry = try last.becomingCreate(
            of: layout, row, newKey: Self.newKey(), isKeyAssigned: keyNames.contains(where: plan.isSetByRemote),
            leavingOut: { keyNames.contains($0) ? plan.isSetByRemote($0) : plan.leavesOut($0, isNew: true) },
            list: { try objects.list(root, $0, of: key) })
        _ = try store(entry, EditedObject(root: root, layout: layout, key: key), after: last)
    }

    // MARK: - References

    /// Returns the keys of a list as a conflict has them.
    func keys(_ value: StoredValue, _ toMany: EntityLayout.ToMany) throws -> [[StoredValue]] {
        guard case .text(let text) = value.form else { return [] }
        let target = model.entities[model.entities[toMany.target].root]
        let batch = try JSONParser.batch(text)
        return withExtendedLifetime(batch) {
            batch[0].elements.map { target.key($0.elements.map(StoredValue.init(stored:))) }
        }
    }

    func setLinks(_ keys: [[StoredValue]], _ layout: EntityLayout, _ index: Int, of key: [StoredValue]) throws {
        for target in keys { try objects.ensure(target, of: layout.toMany[index].target) }
        try objects.setList(layout.index, index, of: key, to: keys)
    }

    func ensureTargets(of key: [StoredValue], _ layout: EntityLayout) throws {
        guard let row = try objects.row(layout.index, key) else { return }
        try objects.ensureTargets(of: row, layout)
    }
}
