internal import Mapping
internal import StoreContract

/// The change of an object's key to the one assigned by the remote, everywhere, in the open transaction.
///
/// If a sync has already imported the object, both become one row, in which only values with pending edits remain
/// local.
package struct KeyRename {
    private let writer: TableWriter

    package init(_ writer: TableWriter) { self.writer = writer }

    private var tables: any StoreTables { writer.tables }
    private var model: CompiledModel { writer.model }
    private var outbox: Outbox { Outbox(tables) }

    /// Changes an object's key.
    ///
    /// - Parameter isTemporary: Whether the new key is also temporary and local.
    package func rename(_ root: Int, _ old: RowKey, to new: RowKey, isTemporary: Bool = false) throws {
        let layout = model.entities[root]
        guard new.count == layout.key.count, !new.contains(.null) else {
            throw StoreError(
                .request,
                "the remote gave a new \(layout.name) the key \(JSONText.key(new).string), which is not valid",
                remedy: "check what the configuration says about the key in the reply")
        }
        guard old != new else { return }
        writer.touched.insert(root)
        if let row = try tables.row(root, old) {
            if let known = try tables.row(root, new) {
                try merge(layout, row, old, into: known, new)
            } else {
                try move(layout, row, old, to: new)
            }
        }
        for other in model.entities where other.index == other.root {
            for (index, toOne) in other.toOne.enumerated() where model.entities[toOne.target].root == root {
                try replaceReferences(other, index, toOne, old, new)
            }
            for toMany in other.toMany {
                guard case .links(let table) = toMany.storage else { continue }
                if model.entities[toMany.target].root == root { try replaceTargets(table, other, old, new) }
                if other.index == root { try moveList(table, old, new) }
            }
        }
        try renameBookkeeping(layout, old, new)
        try tables.renameEntries(root, from: old, to: new, isTemporary: isTemporary)
        try Conflicts(tables).rename(root, old, to: new)
        try renameInEntries(root, old, new)
    }

    // MARK: - Rows

    private func move(_ layout: EntityLayout, _ row: [StoredValue], _ old: RowKey, to new: RowKey) throws {
        var values = row
        for (field, value) in zip(layout.key, new) { values[field] = value }
        try tables.erase(layout.index, old)
        try tables.write(layout.index, new, values)
        func content(_ key: RowKey) -> ChangeRecord.Content {
            .columns(zip(layout.key, key).map { (name: layout.fields[$0].name, value: $1) })
        }
        try writer.record(layout.index, key: new, .updated, old: content(old), new: content(new))
    }

    /// Merges a local object into its imported row, which gets only the values that ``JoinedEdits`` names.
    private func merge(
        _ layout: EntityLayout, _ row: [StoredValue], _ old: RowKey, into known: [StoredValue], _ new: RowKey
    ) throws {
        let editor = writer.editor(layout.index)
        let isStub = try tables.isStub(layout.index, new)
        let edits = JoinedEdits(try outbox.entries(layout.index, old), try outbox.entries(layout.index, new))
        for entry in edits.rebased { try outbox.update(entry) }
        let kept = layout.fields.indices.filter { field in
            !layout.key.contains(field) && (isStub || edits.localColumns.contains(layout.fields[field].name))
        }
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            let links = writer.links(layout.index, index)
            let own = try links.keys(of: old)
            try links.set([], of: old)
            if isStub || edits.localLists.contains(toMany.name) { try links.set(own, of: new) }
        }
        try editor.delete(old, row)
        try editor.update(
            new, from: known, to: kept.map { (name: layout.fields[$0].name, value: row[$0]) },
            as: isStub ? .inserted : .updated)
    }

    private func replaceReferences(
        _ layout: EntityLayout, _ index: Int, _ toOne: EntityLayout.ToOne, _ old: RowKey, _ new: RowKey
    ) throws {
        for key in try tables.referrers(layout.index, index, to: old) {
            guard var row = try tables.row(layout.index, key) else { continue }
            for (offset, value) in new.enumerated() { row[toOne.firstField + offset] = value }
            try tables.write(layout.index, key, row)
            writer.touched.insert(layout.index)
        }
    }

    /// Replaces the old key in lists; removes it from those that have both keys.
    private func replaceTargets(_ table: String, _ source: EntityLayout, _ old: RowKey, _ new: RowKey) throws {
        for link in try tables.reversedLinks(table, to: old) {
            let hasBoth = try tables.links(table, of: link.key).contains { $0.key == new }
            try tables.setLink(table, of: link.key, at: link.position, to: hasBoth ? nil : new)
            writer.touched.insert(source.index)
        }
    }

    private func moveList(_ table: String, _ old: RowKey, _ new: RowKey) throws {
        for link in try tables.links(table, of: old) {
            try tables.setLink(table, of: old, at: link.position, to: nil)
            try tables.setLink(table, of: new, at: link.position, to: link.key)
        }
    }

    // MARK: - Bookkeeping

    private func renameBookkeeping(_ layout: EntityLayout, _ old: RowKey, _ new: RowKey) throws {
        let (oldText, newText) = (JSONText.key(old).string, JSONText.key(new).string)
        // The history continues under the object's new key.
        try tables.renameHistory(of: layout.name, from: oldText, to: newText)
        let records = try tables.provenance(layout.index, old)
        if !records.isEmpty {
            let known = try tables.provenance(layout.index, new)
            try tables.setProvenance(layout.index, old, [])
            try tables.setProvenance(layout.index, new, known.isEmpty ? records : known)
        }
        try tables.renameOrphans(layout.index, from: old, to: new)
        if try tables.setStub(layout.index, old, false) { _ = try tables.setStub(layout.index, new, true) }
    }

    /// Replaces the old key in the values of other edits.
    private func renameInEntries(_ root: Int, _ old: RowKey, _ new: RowKey) throws {
        for entry in try tables.entries() {
            guard let index = model.index(of: entry.entity) else { continue }
            let renamed = entry.renaming(references(of: model.entities[index], to: root), old, new)
            if renamed != entry { try outbox.update(renamed) }
        }
    }

    private func references(of layout: EntityLayout, to root: Int) -> (columns: [[String]], links: Set<String>) {
        let columns = layout.toOne.filter { model.entities[$0.target].root == root }.map { toOne in
            (0..<toOne.fieldCount).map { layout.fields[toOne.firstField + $0].name }
        }
        return (columns, Set(layout.toMany.filter { model.entities[$0.target].root == root }.map(\.name)))
    }
}

extension OutboxEntry {
    /// Returns the entry with the new key in all references to the object.
    fileprivate func renaming(
        _ references: (columns: [[String]], links: Set<String>), _ old: [StoredValue], _ new: [StoredValue]
    ) -> OutboxEntry {
        var entry = self
        for names in references.columns {
            let places = names.compactMap { name in entry.changes.firstIndex { $0.name == name } }
            guard places.count == names.count else { continue }
            if places.map({ entry.changes[$0].old ?? .null }) == old {
                for (place, value) in zip(places, new) { entry.changes[place].old = value }
            }
            if places.map({ entry.changes[$0].new ?? .null }) == old {
                for (place, value) in zip(places, new) { entry.changes[place].new = value }
            }
        }
        for index in entry.links.indices where references.links.contains(entry.links[index].relationship) {
            entry.links[index].old = entry.links[index].old.map { $0 == old ? new : $0 }
            entry.links[index].new = entry.links[index].new.map { $0 == old ? new : $0 }
        }
        return entry
    }
}
