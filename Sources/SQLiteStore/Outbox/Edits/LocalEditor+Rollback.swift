internal import StoreContract
internal import StoreRules
internal import Mapping
internal import RecordBatch

/// The reversal of local edits to the remote's values, as far as they are known.
extension LocalEditor {
    /// Drops entries and reverts their objects to the remote's state.
    ///
    /// - Throws: ``StoreError`` if later edits depend on them.
    func drop(_ ids: [Int64]) throws {
        let entries = try Set(ids).sorted().map { id in
            guard let entry = try outbox.entry(id) else { throw SQLiteStore.noEntry(id) }
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
            if let root = outbox.root(of: entry) {
                others.formUnion(try outbox.entries(root, entry.key).map(\.id).filter { $0 > entry.id })
            }
            others.formUnion(try outbox.dependants(of: entry.id).map(\.id))
        }
        others.subtract(ids)
        guard !others.isEmpty else { return }
        let list = others.sorted().map(String.init).joined(separator: ", ")
        throw StoreError(
            .request, "later edits depend on it: \(list)", remedy: "drop these too: `bmo outbox drop` takes them all")
    }

    private func takeBack(_ entry: OutboxEntry) throws {
        guard let root = outbox.root(of: entry) else {
            try outbox.statements.run("DELETE FROM bmo_outbox WHERE id = ?", [.integer(entry.id)])
            try tables.changes.noteDropped(entry.id)
            return
        }
        touched.insert(root)
        let conflicts = try tables.conflicts.all(root: root, key: entry.key)
        try drop(entry, root: root)
        let left = try outbox.entries(root, entry.key)
        switch entry.operation {
        case .create:
            let object = EditedObject(root: root, layout: model.entities[root], key: entry.key)
            if entry.hasTemporaryKey { try checkUnreferred(object) }
            try remover.removeAlone(root, entry.key, isFinal: true)
        case .update:
            if left.isEmpty, conflicts.contains(where: { $0.column == nil }) {
                try tables.conflicts.remove(root, entry.key)
                touched.formUnion(try remover.remove(entity: root, key: entry.key).keys)
                return
            }
            try takeBack(entry, root, left, conflicts)
        case .delete: try restore(entry, root)
        }
        if left.isEmpty {
            try tables.conflicts.remove(root, entry.key)
        } else {
            let names = Set(left.flatMap { $0.changes.map(\.name) + $0.links.map(\.relationship) })
            try tables.conflicts.remove(
                root, entry.key, columns: conflicts.compactMap(\.column).filter { !names.contains($0) })
        }
    }

    private func takeBack(
        _ entry: OutboxEntry, _ root: Int, _ left: [OutboxEntry], _ conflicts: [EditConflict]
    ) throws {
        let layout = model.entities[root]
        let editor = try rowEditors(root)
        guard let row = try editor.row(entry.key) else { return }
        func remote(_ name: String, isFirst: Bool) -> StoredValue? {
            isFirst ? conflicts.first { $0.column == name }?.remote : nil
        }
        let columns = entry.changes.map { change in
            let isFirst = !left.contains { $0.id < entry.id && $0.changes.contains { $0.name == change.name } }
            return (name: change.name, value: remote(change.name, isFirst: isFirst) ?? change.old ?? .null)
        }
        try editor.update(entry.key, from: row, to: columns)
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

    /// Restores a row that was deleted locally, with the values that the remote has provided since.
    func restore(_ entry: OutboxEntry, _ root: Int) throws {
        let layout = model.entities[root]
        let editor = try rowEditors(root)
        touched.insert(root)
        var columns = entry.changes.compactMap { change in change.old.map { (name: change.name, value: $0) } }
        if let field = layout.deletion { columns.append((layout.fields[field].name, .null)) }
        if let row = try editor.row(entry.key) {
            let isStub = try rowEditors.stubs.contains(layout.name, .key(entry.key))
            try editor.update(entry.key, from: row, to: columns, as: isStub ? .inserted : .updated)
        } else {
            try editor.insert(entry.key, columns, isStub: false)
        }
        try ensureTargets(of: entry.key, layout)
        for link in entry.links {
            guard let index = layout.toMany.firstIndex(where: { $0.name == link.relationship }) else { continue }
            try setLinks(link.old, layout, index, of: entry.key)
        }
    }

    /// Turns the edits of an object that the remote deleted into a create.
    func becomeCreate(_ root: Int, _ key: [StoredValue]) throws {
        guard let row = try rowEditors(root).row(key), let last = try outbox.entries(root, key).last,
            let index = model.index(of: last.entity)
        else { return }
        let layout = model.entities[index]
        for entry in try outbox.entries(root, key) where entry.id != last.id { try outbox.remove(entry, root: root) }
        try tables.conflicts.remove(root, key)
        let entry = try last.becomingCreate(of: layout, row, newKey: Self.newKey()) {
            try linkWriters(root, $0).keys(of: key)
        }
        _ = try store(entry, EditedObject(root: root, layout: layout, key: key), after: last)
    }

    // MARK: - Conflicts

    /// Resolves conflicts of an object.
    func resolve(_ entity: String, _ key: [StoredValue], column: String?, take side: ConflictSide) throws {
        guard let index = model.index(of: entity) else {
            throw StoreError(.request, "there is no entity \"\(entity)\"", remedy: "`bmo conflicts` lists them")
        }
        let root = model.entities[index].root
        let all = try tables.conflicts.all(root: root, key: key)
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
        for conflict in chosen {
            guard let column = conflict.column else {
                try resolveWhole(root, key, take: side)
                continue
            }
            try resolve(column, conflict, root, key, take: side)
        }
        guard try tables.conflicts.all(root: root, key: key).isEmpty else { return }
        for entry in try outbox.entries(root, key) {
            if let entry = entry.after(.conflictsResolved(newKey: Self.newKey())) { try outbox.update(entry) }
        }
    }

    /// Resolves a conflict of the whole object: the remote deleted an edited object, or changed a deleted one.
    private func resolveWhole(_ root: Int, _ key: [StoredValue], take side: ConflictSide) throws {
        try tables.conflicts.remove(root, key, columns: [""])
        let entries = try outbox.entries(root, key)
        guard let last = entries.last else { return }
        switch (last.operation, side) {
        case (.delete, .local): break
        case (.delete, .remote):
            try drop(last, root: root)
            try restore(last, root)
        case (_, .local): try becomeCreate(root, key)
        case (_, .remote):
            for entry in entries { try drop(entry, root: root) }
            try tables.conflicts.remove(root, key)
            touched.formUnion(try remover.remove(entity: root, key: key).keys)
        }
    }

    private func resolve(
        _ column: String, _ conflict: EditConflict, _ root: Int, _ key: [StoredValue], take side: ConflictSide
    ) throws {
        let layout = model.entities[root]
        let remote = conflict.remote ?? .null
        try tables.conflicts.remove(root, key, columns: [column])
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
                let editor = try rowEditors(root)
                if let row = try editor.row(key) { try editor.update(key, from: row, to: [(column, remote)]) }
                touched.insert(root)
                try ensureTargets(of: key, layout)
            }
        }
        for (old, entry) in zip(set.original, set.entries) where entry != old {
            if entry.operation == .update, entry.changes.isEmpty, entry.links.isEmpty {
                try drop(old, root: root)
            } else {
                try outbox.update(entry)
            }
        }
    }

    // MARK: - References

    private func keys(_ value: StoredValue, _ toMany: EntityLayout.ToMany) throws -> [[StoredValue]] {
        guard case .text(let text) = value.form else { return [] }
        let target = model.entities[model.entities[toMany.target].root]
        let batch = try JSONParser.batch(text)
        return withExtendedLifetime(batch) {
            batch[0].elements.map { target.key($0.elements.map(StoredValue.init(stored:))) }
        }
    }

    private func setLinks(_ keys: [[StoredValue]], _ layout: EntityLayout, _ index: Int, of key: [StoredValue]) throws {
        for target in keys { try ensure(target, of: layout.toMany[index].target) }
        try linkWriters(layout.index, index).set(keys, of: key)
    }

    private func ensureTargets(of key: [StoredValue], _ layout: EntityLayout) throws {
        guard let row = try rowEditors(layout.index).row(key) else { return }
        for toOne in layout.toOne {
            let target = Array(row[toOne.firstField..<toOne.firstField + toOne.fieldCount])
            if !target.contains(.null) { try ensure(target, of: toOne.target) }
        }
    }

    private func ensure(_ key: [StoredValue], of entity: Int) throws {
        let editor = try rowEditors(model.entities[entity].root)
        guard try editor.row(key) == nil else { return }
        let kind = editor.layout.discriminator.map { field in
            (name: editor.layout.fields[field].name, value: StoredValue.text(model.entities[entity].name))
        }
        try editor.insert(key, kind.map { [$0] } ?? [], isStub: true)
        touched.insert(editor.layout.index)
    }
}
