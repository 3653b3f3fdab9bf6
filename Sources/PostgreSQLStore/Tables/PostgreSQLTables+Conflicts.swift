internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import StoreRules

/// The columns that were changed both locally and on the remote: few, so that they are read and written as a whole.
extension PostgreSQLTables {
    /// A conflict, with the entity that has the object's table.
    struct StoredConflict {
        var root: Int
        var conflict: EditConflict
    }

    func noteConflict(_ conflict: EditConflict, root: Int) throws {
        var all = try storedConflicts()
        let known = all.firstIndex {
            $0.root == root && $0.conflict.key == conflict.key && $0.conflict.column == conflict.column
        }
        if let known {
            all[known].conflict = conflict
        } else {
            all.append(StoredConflict(root: root, conflict: conflict))
        }
        try write(all)
    }

    func conflicts(_ root: Int, _ key: RowKey) throws -> [EditConflict] {
        try storedConflicts().filter { $0.root == root && $0.conflict.key == key }.map(\.conflict)
    }

    func removeConflicts(_ root: Int, _ key: RowKey, columns: [String]?) throws {
        let all = try storedConflicts()
        let kept = all.filter { stored in
            stored.root != root || stored.conflict.key != key
                || columns?.contains(stored.conflict.column ?? "") == false
        }
        if kept.count < all.count { try write(kept) }
    }

    func renameConflicts(_ root: Int, from old: RowKey, to new: RowKey) throws {
        let columns = try conflicts(root, old).map { $0.column ?? "" }
        guard !columns.isEmpty else { return }
        try removeConflicts(root, new, columns: columns)
        var all = try storedConflicts()
        for index in all.indices where all[index].root == root && all[index].conflict.key == old {
            all[index].conflict.key = new
        }
        try write(all)
    }

    func allConflicts() throws -> [EditConflict] { try storedConflicts().map(\.conflict) }

    private func storedConflicts() throws -> [StoredConflict] {
        if let knownConflicts { return knownConflicts }
        guard counters.hasConflicts else {
            knownConflicts = []
            return []
        }
        let result = try connection.query(
            """
            SELECT root, entity, key, attribute, base, local, remote, seen FROM \(sql.own("bmo_conflicts")) ORDER BY ord
            """, for: "reading conflicts")
        var conflicts: [StoredConflict] = []
        for row in 0..<result.count {
            guard let root = model.index(of: result.text(row, 0) ?? "") else { continue }
            let entity = result.text(row, 1) ?? ""
            let layout = model.index(of: entity).map { model.entities[$0] } ?? model.entities[root]
            let column = result.text(row, 3)
            let type = column.flatMap { layout.type(of: $0) } ?? .text
            func value(_ column: Int) -> StoredValue? {
                result.text(row, column).flatMap(StoredValue.init(json:))?.typed(as: type)
            }
            let conflict = EditConflict(
                entity: entity, key: layout.key(from: result.text(row, 2) ?? "") ?? [], column: column, base: value(4),
                local: value(5), remote: value(6), seen: result.text(row, 7) ?? "")
            conflicts.append(StoredConflict(root: root, conflict: conflict))
        }
        knownConflicts = conflicts
        return conflicts
    }

    private func write(_ conflicts: [StoredConflict]) throws {
        knownConflicts = conflicts
        noteWritten()
        try connection.run("DELETE FROM \(sql.own("bmo_conflicts"))", for: "writing conflicts")
        guard !conflicts.isEmpty else { return }
        counters.hasConflicts = true
        let all = conflicts.map(\.conflict)
        func json(_ value: StoredValue?) -> String? { value.map(JSONText.value) }
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_conflicts"))
            SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
                $8::text[], $9::text[])
            """,
            [
                .bigints(all.indices.map { Int64($0) }), .texts(conflicts.map { name($0.root) }),
                .texts(all.map(\.entity)), .texts(all.map { JSONText.key($0.key).string }),
                .optionalTexts(all.map(\.column)), .optionalTexts(all.map { json($0.base) }),
                .optionalTexts(all.map { json($0.local) }), .optionalTexts(all.map { json($0.remote) }),
                .texts(all.map(\.seen)),
            ], for: "writing conflicts")
    }
}

extension StoredValue {
    /// Reads a value written by `JSONText.value`.
    init?(json text: String) {
        guard let parts = try? JSONParser.batch("[\(text)]") else { return nil }
        self = withExtendedLifetime(parts) { parts[0].elements.first.map(StoredValue.init(stored:)) ?? .null }
    }
}
