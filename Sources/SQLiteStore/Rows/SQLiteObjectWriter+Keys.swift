internal import Mapping
internal import StoreContract
internal import StoreRules

/// The change of an object's key: one statement per table, whatever the number of references.
extension SQLiteObjectWriter {
    func changeKey(_ root: Int, from old: RowKey, to new: RowKey) throws {
        let layout = model.entities[root]
        let count = try replace(layout.table, layout.key.map { layout.fields[$0].name }, old, new)
        guard try count > 0 || row(root, old) == nil else {
            throw SQLiteFailure.ignored("keeps the key of the row of \(layout.name) as it is")
        }
    }

    func redirect(_ root: Int, from old: RowKey, to new: RowKey) throws {
        let layout = model.entities[root]
        touched.insert(root)
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
    }

    @discardableResult
    private func replace(_ table: String, _ columns: [String], _ old: RowKey, _ new: RowKey) throws -> Int {
        let names = columns.map { SchemaBuilder.quoted($0) }
        return try statements.run(
            "UPDATE \(SchemaBuilder.quoted(table)) SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) "
                + "WHERE \(names.map { "\($0) = ?" }.joined(separator: " AND "))", new + old)
    }

    /// Removes the old key from lists that have both keys.
    private func removeTwice(
        _ table: String, _ source: [String], _ target: [String], _ old: RowKey, _ new: RowKey
    ) throws {
        let quoted = SchemaBuilder.quoted
        let same = source.map { "o.\(quoted($0)) = \(quoted(table)).\(quoted($0))" }.joined(separator: " AND ")
        try statements.run(
            "DELETE FROM \(quoted(table)) WHERE \(target.map { "\(quoted($0)) = ?" }.joined(separator: " AND ")) "
                + "AND EXISTS (SELECT 1 FROM \(quoted(table)) AS o WHERE \(same) AND "
                + target.map { "o.\(quoted($0)) = ?" }.joined(separator: " AND ") + ")", old + new)
    }

    private func renameBookkeeping(_ layout: EntityLayout, _ old: RowKey, _ new: RowKey) throws {
        let values = [JSONText.keyValue(new), .text(layout.name), JSONText.keyValue(old)]
        // The history continues under the object's new key.
        try statements.run("UPDATE bmo_changes SET key = ? WHERE entity = ? AND key = ?", values)
        for table in ["bmo_provenance", "bmo_orphans"] {
            try statements.run("UPDATE OR IGNORE \(table) SET key = ? WHERE entity = ? AND key = ?", values)
            try statements.run("DELETE FROM \(table) WHERE entity = ? AND key = ?", Array(values.dropFirst()))
        }
        if try stubs.remove(layout.name, .key(old)) { try stubs.add(layout.name, .key(new)) }
    }
}
