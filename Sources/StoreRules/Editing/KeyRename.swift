internal import Mapping
internal import StoreContract

/// The change of an object's key to the one assigned by the remote, everywhere, in the open transaction.
///
/// Foreign keys are checked at its end, so the row changes first and references follow. If a sync has already imported
/// the object, both become one row, in which only values with pending edits remain local.
struct KeyRename {
    private let tables: EditTables

    init(_ tables: EditTables) { self.tables = tables }

    private var model: CompiledModel { tables.model }
    private var objects: any ObjectWriter { tables.objects }
    private var outbox: any OutboxTables { tables.outbox }

    /// Changes an object's key.
    ///
    /// - Parameter isTemporary: Whether the new key is also temporary and local.
    func rename(_ root: Int, _ old: RowKey, to new: RowKey, isTemporary: Bool = false) throws {
        let layout = model.entities[root]
        guard new.count == layout.key.count, !new.contains(.null) else {
            throw StoreError(
                .request,
                "the remote gave a new \(layout.name) the key \(JSONText.key(new).string), which is not valid",
                remedy: "check what the configuration says about the key in the reply")
        }
        guard old != new else { return }
        if let row = try objects.row(root, old) {
            if let known = try objects.row(root, new) {
                try merge(layout, row, old, into: known, new)
            } else {
                try move(layout, old, to: new)
            }
        }
        try objects.redirect(root, from: old, to: new)
        try outbox.renameEntries(root, from: old, to: new, isTemporary: isTemporary)
        try tables.conflicts.renameConflicts(root, from: old, to: new)
        try renameInEntries(root, old, new)
    }

    // MARK: - Rows

    private func move(_ layout: EntityLayout, _ old: RowKey, to new: RowKey) throws {
        try objects.changeKey(layout.index, from: old, to: new)
        func content(_ key: RowKey) -> ChangeRecord.Content {
            .columns(zip(layout.key, key).map { (name: layout.fields[$0].name, value: $1) })
        }
        try objects.record(layout.index, key: new, .updated, old: content(old), new: content(new))
    }

    /// Merges a local object into its imported row, which gets only the values that ``JoinedEdits`` names.
    private func merge(
        _ layout: EntityLayout, _ row: [StoredValue], _ old: RowKey, into known: [StoredValue],
        _ new: RowKey
    ) throws {
        let isStub = try objects.isStub(layout.index, new)
        let edits = JoinedEdits(try outbox.entries(layout.index, old), try outbox.entries(layout.index, new))
        for entry in edits.rebased { try outbox.update(entry) }
        let kept = layout.fields.indices.filter { field in
            !layout.key.contains(field) && (isStub || edits.localColumns.contains(layout.fields[field].name))
        }
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            let own = try objects.list(layout.index, index, of: old)
            try objects.setList(layout.index, index, of: old, to: [])
            if isStub || edits.localLists.contains(toMany.name) {
                try objects.setList(layout.index, index, of: new, to: own)
            }
        }
        try objects.delete(layout.index, old, row)
        try objects.update(
            layout.index, new, from: known, to: kept.map { (name: layout.fields[$0].name, value: row[$0]) },
            as: isStub ? .inserted : .updated)
    }

    /// Replaces the old key in the values of other edits.
    private func renameInEntries(_ root: Int, _ old: RowKey, _ new: RowKey) throws {
        // Most new objects are referred to by few entities or none.
        let holders = model.entities.filter { layout in
            let references = references(of: layout, to: root)
            return !references.columns.isEmpty || !references.links.isEmpty
        }
        guard !holders.isEmpty else { return }
        for entry in try outbox.entries(of: holders.map(\.name), mentioning: old) {
            guard let index = model.index(of: entry.entity) else { continue }
            let references = references(of: model.entities[index], to: root)
            let renamed = entry.renaming(references.columns, references.links, old, to: new)
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
