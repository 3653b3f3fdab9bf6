internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model
internal import RecordBatch

/// The columns that were changed both locally and on the remote: table `bmo_conflicts`.
final class ConflictTable: ConflictTables {
    private let model: CompiledModel
    private let statements: StatementCache

    init(_ model: CompiledModel, on connection: OpaquePointer?) {
        self.model = model
        statements = StatementCache(on: connection)
    }

    /// Saves a conflict; updates the remote value of a known one.
    func noteConflict(_ conflict: EditConflict, root: Int) throws {
        func json(_ value: StoredValue?) -> StoredValue { value.map { .text(JSONText.value($0)) } ?? .null }
        try statements.run(
            """
            INSERT INTO bmo_conflicts (root, entity, key, "column", base, local, remote, seen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (root, key, ifnull("column", '')) DO UPDATE SET
                base = excluded.base, local = excluded.local, remote = excluded.remote, seen = excluded.seen
            """,
            [
                .text(model.entities[root].name), .text(conflict.entity), JSONText.keyValue(conflict.key),
                conflict.column.map { .text($0) } ?? .null, json(conflict.base), json(conflict.local),
                json(conflict.remote), .text(conflict.seen),
            ])
    }

    func conflicts(_ root: Int, _ key: [StoredValue]) throws -> [EditConflict] { try all(root: root, key: key) }

    /// Returns the conflicts, optionally only those of an object or entity.
    func all(root: Int? = nil, key: [StoredValue]? = nil, entity: String? = nil) throws -> [EditConflict] {
        // SQLite finds an object's conflicts by their index only without an OR.
        let object =
            root != nil && key != nil
            ? "root = ?1 AND key = ?2" : "(?1 IS NULL OR root = ?1) AND (?2 IS NULL OR key = ?2)"
        let select = statements(
            """
            SELECT entity, key, "column", base, local, remote, seen FROM bmo_conflicts
            WHERE \(object) AND (?3 IS NULL OR entity = ?3) ORDER BY id
            """)
        select.bind(root.map { model.entities[$0].name }, at: 1)
        select.bind(key.map { JSONText.key($0).string }, at: 2)
        select.bind(entity, at: 3)
        defer { select.reset() }
        var conflicts: [EditConflict] = []
        while try select.step() {
            let entity = select.text(0) ?? ""
            let key = select.text(1) ?? ""
            let layout = model.index(of: entity).map { model.entities[$0] }
            let column = select.text(2)
            let type = column.flatMap { layout?.type(of: $0) } ?? .text
            conflicts.append(
                EditConflict(
                    entity: entity, key: layout?.key(from: key) ?? JSONText.parts(of: key) ?? [],
                    column: column, base: try value(select.text(3), type), local: try value(select.text(4), type),
                    remote: try value(select.text(5), type), seen: select.text(6) ?? ""))
        }
        return conflicts
    }

    func removeConflicts(_ root: Int, _ key: [StoredValue], columns: [String]?) throws {
        let object = [StoredValue.text(model.entities[root].name), JSONText.keyValue(key)]
        guard let columns else {
            try statements.run("DELETE FROM bmo_conflicts WHERE root = ? AND key = ?", object)
            return
        }
        for column in columns {
            try statements.run(
                "DELETE FROM bmo_conflicts WHERE root = ? AND key = ? AND ifnull(\"column\", '') = ?",
                object + [.text(column)])
        }
    }

    func renameConflicts(_ root: Int, from old: [StoredValue], to new: [StoredValue]) throws {
        try statements.run(
            "UPDATE OR REPLACE bmo_conflicts SET key = ? WHERE root = ? AND key = ?",
            [JSONText.keyValue(new), .text(model.entities[root].name), JSONText.keyValue(old)])
    }

    private func value(_ json: String?, _ type: AttributeType) throws -> StoredValue? {
        guard let json else { return nil }
        let batch = try JSONParser.batch(json)
        return withExtendedLifetime(batch) { StoredValue(stored: batch[0]).typed(as: type) }
    }
}
