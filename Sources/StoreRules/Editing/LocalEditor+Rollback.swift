package import Mapping
internal import RecordBatch
package import StoreContract

/// The reversal of local edits to the remote's values, as far as they are known.
extension LocalEditor {
    /// Drops entries and reverts their objects to the remote's state.
    ///
    /// - Throws: ``StoreError`` if later edits depend on them.
    package func drop(_ ids: [Int64]) throws {
        var entries = try Set(ids).sorted().map { id in
            guard let entry = try outbox.entry(id) else { throw OutboxEntry.missing(id) }
            guard entry.state != .sending else {
                throw StoreError(
                    .request, "edit \(id) is being sent", remedy: "wait for `bmo push` to end, or run it")
            }
            return entry
        }
        try checkDependants(of: entries)
        while !entries.isEmpty {
            // Newest first, but references to a new object before its create.
            let index = entries.lastIndex { entry in
                !entries.contains { $0.dependsOn.contains(entry.id) && $0.id != entry.id }
                    && !entries.contains { $0.entity == entry.entity && $0.key == entry.key && $0.id > entry.id }
            }
            try takeBack(entries.remove(at: index ?? entries.count - 1))
        }
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
            try tables.removeEntry(entry.id)
            try writer.noteDropped(entry.id)
            return
        }
        let found = try conflicts.all(root: root, key: entry.key)
        try drop(entry)
        let left = try outbox.entries(root, entry.key)
        switch entry.operation {
        case .create:
            let object = EditedObject(root: root, layout: model.entities[root], key: entry.key)
            if entry.hasTemporaryKey { try checkUnreferred(object) }
            try writer.removeAlone(root, entry.key, isFinal: true)
        case .update:
            if left.isEmpty, found.contains(where: { $0.column == nil }) {
                try conflicts.remove(root, entry.key)
                _ = try writer.remove(entity: root, key: entry.key)
                return
            }
            try takeBack(entry, root, left, found)
        case .delete: try restore(entry, root)
        }
        if left.isEmpty {
            try conflicts.remove(root, entry.key)
        } else {
            let names = Set(left.flatMap { $0.changes.map(\.name) + $0.links.map(\.relationship) })
            try conflicts.remove(
                root, entry.key, columns: found.compactMap(\.column).filter { !names.contains($0) })
        }
    }

    private func takeBack(
        _ entry: OutboxEntry, _ root: Int, _ left: [OutboxEntry], _ conflicts: [EditConflict]
    ) throws {
        let layout = model.entities[root]
        let editor = writer.editor(root)
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
        let editor = writer.editor(root)
        var columns = entry.changes.compactMap { change in change.old.map { (name: change.name, value: $0) } }
        if let field = layout.deletion { columns.append((layout.fields[field].name, .null)) }
        if let row = try editor.row(entry.key) {
            let isStub = try tables.isStub(root, entry.key)
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
        guard let row = try writer.editor(root).row(key), let last = try outbox.entries(root, key).last,
            let index = model.index(of: last.entity)
        else { return }
        let layout = model.entities[index]
        for entry in try outbox.entries(root, key) where entry.id != last.id { try outbox.remove(entry) }
        try conflicts.remove(root, key)
        let own = Set([layout.discriminator, layout.extra, layout.deletion].compactMap { $0 })
        var entry = try last.changed(by: .recreated(newKey: Self.newKey()))
        entry.operation = .create
        entry.changes = layout.fields.indices.filter { !own.contains($0) && row[$0] != .null }.map {
            OutboxEntry.FieldEdit(name: layout.fields[$0].name, old: nil, new: row[$0])
        }
        entry.links = []
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            let keys = try writer.links(root, index).keys(of: key)
            if !keys.isEmpty {
                entry.links.append(OutboxEntry.LinkEdit(relationship: toMany.name, old: [], new: keys))
            }
        }
        _ = try store(entry, EditedObject(root: root, layout: layout, key: key), after: last)
    }

    // MARK: - Conflicts

    /// Resolves conflicts of an object.
    package func resolve(_ entity: String, _ key: [StoredValue], column: String?, take side: ConflictSide) throws {
        guard let index = model.index(of: entity) else {
            throw StoreError(.request, "there is no entity \"\(entity)\"", remedy: "`bmo conflicts` lists them")
        }
        let root = model.entities[index].root
        let all = try conflicts.all(root: root, key: key)
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
        guard try conflicts.all(root: root, key: key).isEmpty else { return }
        for entry in try outbox.entries(root, key) {
            if let entry = entry.after(.conflictsResolved(newKey: Self.newKey())) { try outbox.update(entry) }
        }
    }

    /// Resolves a conflict of the whole object: the remote deleted an edited object, or changed a deleted one.
    private func resolveWhole(_ root: Int, _ key: [StoredValue], take side: ConflictSide) throws {
        try conflicts.remove(root, key, columns: [""])
        let entries = try outbox.entries(root, key)
        guard let last = entries.last else { return }
        switch (last.operation, side) {
        case (.delete, .local): break
        case (.delete, .remote):
            try drop(last)
            try restore(last, root)
        case (_, .local): try becomeCreate(root, key)
        case (_, .remote):
            for entry in entries { try drop(entry) }
            try conflicts.remove(root, key)
            _ = try writer.remove(entity: root, key: key)
        }
    }

    private func resolve(
        _ column: String, _ conflict: EditConflict, _ root: Int, _ key: [StoredValue], take side: ConflictSide
    ) throws {
        let layout = model.entities[root]
        let remote = conflict.remote ?? .null
        try conflicts.remove(root, key, columns: [column])
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
                let editor = writer.editor(root)
                if let row = try editor.row(key) { try editor.update(key, from: row, to: [(column, remote)]) }
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
        for target in keys { try writer.ensure(target, of: layout.toMany[index].target) }
        try writer.links(layout.index, index).set(keys, of: key)
    }

    private func ensureTargets(of key: [StoredValue], _ layout: EntityLayout) throws {
        guard let row = try writer.editor(layout.index).row(key) else { return }
        for toOne in layout.toOne {
            let target = Array(row[toOne.firstField..<toOne.firstField + toOne.fieldCount])
            if !target.contains(.null) { try writer.ensure(target, of: toOne.target) }
        }
    }
}
