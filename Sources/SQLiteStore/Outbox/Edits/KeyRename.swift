internal import StoreContract
internal import Mapping

/// The change of an object's key to the one assigned by the remote, everywhere, in the open transaction.
///
/// Foreign keys are checked at its end, so the row changes first and references follow. If a sync has already imported
/// the object, both become one row, in which only values with pending edits remain local.
final class KeyRename {
    private let model: CompiledModel
    private let tables: EditTables
    private let rowEditors: RowEditors
    private let linkWriters: LinkWriters

    init(
        _ model: CompiledModel, _ tables: EditTables, _ rowEditors: RowEditors, _ linkWriters: LinkWriters
    ) {
        self.model = model
        self.tables = tables
        self.rowEditors = rowEditors
        self.linkWriters = linkWriters
    }

    private var statements: StatementCache { tables.outbox.statements }

    /// Changes an object's key.
    ///
    /// - Parameter isTemporary: Whether the new key is also temporary and local.
    /// - Returns: The roots of the entities whose rows changed.
    func rename(
        _ root: Int, _ old: [StoredValue], to new: [StoredValue], isTemporary: Bool = false
    ) throws -> Set<Int> {
        let layout = model.entities[root]
        guard new.count == layout.key.count, !new.contains(.null) else {
            throw StoreError(
                .request,
                "the remote gave a new \(layout.name) the key \(JSONText.key(new).string), which is not valid",
                remedy: "check what the configuration says about the key in the reply")
        }
        guard old != new else { return [] }
        let editor = try rowEditors(root)
        var touched: Set<Int> = [root]
        if let row = try editor.row(old) {
            if let known = try editor.row(new) {
                try merge(layout, row, old, into: known, new)
            } else {
                try move(layout, row, old, to: new)
            }
        }
        for other in model.entities where other.index == other.root {
            for toOne in other.toOne where model.entities[toOne.target].root == root {
                let columns = (0..<toOne.fieldCount).map { other.fields[toOne.firstField + $0].name }
                if try replace(other.table, columns, old, new) > 0 { touched.insert(other.index) }
            }
            for toMany in other.toMany {
                guard case .links(let table) = toMany.storage else { continue }
                if model.entities[toMany.target].root == root {
                    let target = SchemaBuilder.linkColumns(.target, layout, of: table, in: model)
                    let source = SchemaBuilder.linkColumns(.source, other, of: table, in: model)
                    try removeTwice(table, source, target, old, new)
                    if try replace(table, target, old, new) > 0 { touched.insert(other.index) }
                }
                if other.index == root {
                    try replace(table, SchemaBuilder.linkColumns(.source, layout, of: table, in: model), old, new)
                }
            }
        }
        try renameBookkeeping(layout, old, new)
        try tables.outbox.rename(root, old, to: new, isTemporary: isTemporary)
        try tables.conflicts.rename(root, old, to: new)
        try renameInEntries(root, old, new)
        return touched
    }

    // MARK: - Rows

    private func move(_ layout: EntityLayout, _ row: [StoredValue], _ old: [StoredValue], to new: [StoredValue]) throws
    {
        try replace(layout.table, layout.key.map { layout.fields[$0].name }, old, new)
        try record(layout, old, new)
    }

    private func record(_ layout: EntityLayout, _ old: [StoredValue], _ new: [StoredValue]) throws {
        func object(_ key: [StoredValue]) -> JSONText {
            .object(zip(layout.key, key).map { (name: layout.fields[$0].name, value: $1) })
        }
        try tables.changes.record(layout, key: .key(new), .updated, old: object(old), new: object(new))
    }

    /// Merges a local object into its imported row, which gets only the values that ``JoinedEdits`` names.
    private func merge(
        _ layout: EntityLayout, _ row: [StoredValue], _ old: [StoredValue], into known: [StoredValue],
        _ new: [StoredValue]
    ) throws {
        let editor = try rowEditors(layout.index)
        let isStub = try rowEditors.stubs.contains(layout.name, .key(new))
        let edits = JoinedEdits(
            try tables.outbox.entries(layout.index, old), try tables.outbox.entries(layout.index, new))
        for entry in edits.rebased { try tables.outbox.update(entry) }
        let kept = layout.fields.indices.filter { field in
            !layout.key.contains(field) && (isStub || edits.localColumns.contains(layout.fields[field].name))
        }
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            let links = try linkWriters(layout.index, index)
            let own = try links.keys(of: old)
            try links.set([], of: old)
            if isStub || edits.localLists.contains(toMany.name) { try links.set(own, of: new) }
        }
        try editor.delete(old, row)
        try editor.update(
            new, from: known, to: kept.map { (name: layout.fields[$0].name, value: row[$0]) },
            as: isStub ? .inserted : .updated)
    }

    @discardableResult
    private func replace(
        _ table: String, _ columns: [String], _ old: [StoredValue], _ new: [StoredValue]
    ) throws -> Int {
        let names = columns.map { SchemaBuilder.quoted($0) }
        return try statements.run(
            "UPDATE \(SchemaBuilder.quoted(table)) SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) "
                + "WHERE \(names.map { "\($0) = ?" }.joined(separator: " AND "))", new + old)
    }

    /// Removes the old key from lists that have both keys.
    private func removeTwice(
        _ table: String, _ source: [String], _ target: [String], _ old: [StoredValue], _ new: [StoredValue]
    ) throws {
        let quoted = SchemaBuilder.quoted
        let same = source.map { "o.\(quoted($0)) = \(quoted(table)).\(quoted($0))" }.joined(separator: " AND ")
        try statements.run(
            "DELETE FROM \(quoted(table)) WHERE \(target.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")) "
                + "AND EXISTS (SELECT 1 FROM \(quoted(table)) AS o WHERE \(same) AND "
                + target.map { "o.\(quoted($0)) = ?" }.joined(separator: " AND ") + ")", old + new)
    }

    // MARK: - Bookkeeping

    private func renameBookkeeping(_ layout: EntityLayout, _ old: [StoredValue], _ new: [StoredValue]) throws {
        let values = [JSONText.keyValue(new), .text(layout.name), JSONText.keyValue(old)]
        // The history continues under the object's new key.
        try statements.run("UPDATE bmo_changes SET key = ? WHERE entity = ? AND key = ?", values)
        for table in ["bmo_provenance", "bmo_orphans"] {
            try statements.run("UPDATE OR IGNORE \(table) SET key = ? WHERE entity = ? AND key = ?", values)
            try statements.run("DELETE FROM \(table) WHERE entity = ? AND key = ?", Array(values.dropFirst()))
        }
        if try rowEditors.stubs.remove(layout.name, .key(old)) { try rowEditors.stubs.add(layout.name, .key(new)) }
    }

    /// Replaces the old key in the values of other edits.
    private func renameInEntries(_ root: Int, _ old: [StoredValue], _ new: [StoredValue]) throws {
        // Searches for the parts of the key in the JSON text, which most entries do not contain.
        let parts = old.map { StoredValue.text(JSONText.value($0)) }
        let condition = parts.map { _ in "(instr(changes, ?) > 0 OR instr(ifnull(base, ''), ?) > 0)" }
        let entries = try tables.outbox.entries(
            "WHERE \(condition.joined(separator: " AND "))", parts.flatMap { [$0, $0] })
        for entry in entries {
            guard let index = model.index(of: entry.entity) else { continue }
            let references = references(of: model.entities[index], to: root)
            let renamed = entry.renaming(references.columns, references.links, old, to: new)
            if renamed != entry { try tables.outbox.update(renamed) }
        }
    }

    private func references(of layout: EntityLayout, to root: Int) -> (columns: [[String]], links: Set<String>) {
        let columns = layout.toOne.filter { model.entities[$0.target].root == root }.map { toOne in
            (0..<toOne.fieldCount).map { layout.fields[toOne.firstField + $0].name }
        }
        return (columns, Set(layout.toMany.filter { model.entities[$0.target].root == root }.map(\.name)))
    }
}
