internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import StoreRules

/// The columns that were changed both locally and on the remote.
///
/// They are read by object, and as a whole only after several questions. Changes are written at once.
extension PostgreSQLTables {
    /// A conflict, with its number, which has the order of discovery.
    struct StoredConflict {
        let number: Int64
        var conflict: EditConflict
    }

    func noteConflict(_ conflict: EditConflict, root: Int) throws {
        let object = RowReference(root: root, key: conflict.key)
        var all = try stored(object)
        let known = all.firstIndex { $0.conflict.column == conflict.column }
        let number = if let known { all[known].number } else { try nextConflict() }
        let noted = StoredConflict(number: number, conflict: conflict)
        if let known { all[known] = noted } else { all.append(noted) }
        noteWritten()
        func json(_ value: StoredValue?) -> SQLParameter { .text(value.map(JSONText.value)) }
        let values: [SQLParameter] = [
            .bigint(number), .text(conflict.entity), json(conflict.base), json(conflict.local), json(conflict.remote),
            .text(conflict.seen),
        ]
        if known == nil {
            counters.hasConflicts = true
            try connection.query(
                """
                INSERT INTO \(sql.own("bmo_conflicts"))
                    (ord, entity, base, local, remote, seen, root, key, attribute)
                VALUES ($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text)
                """,
                values + [
                    SQLParameter.text(name(root)), .text(JSONText.key(conflict.key).string), .text(conflict.column),
                ], for: "writing conflicts")
        } else {
            try connection.query(
                """
                UPDATE \(sql.own("bmo_conflicts"))
                SET entity = $2::text, base = $3::text, local = $4::text, remote = $5::text, seen = $6::text
                WHERE ord = $1::bigint
                """, values, for: "writing conflicts")
        }
        knownConflicts[object] = all
    }

    private func nextConflict() throws -> Int64 {
        var last = lastConflict
        if last == nil {
            let found = try connection.query(
                "SELECT max(ord) FROM \(sql.own("bmo_conflicts"))", for: "reading conflicts")
            last = found.bigint(0, 0)
        }
        let next = (last ?? -1) + 1
        lastConflict = next
        return next
    }

    func conflicts(_ root: Int, _ key: RowKey) throws -> [EditConflict] {
        try stored(RowReference(root: root, key: key)).map(\.conflict)
    }

    func removeConflicts(_ root: Int, _ key: RowKey, columns: [String]?) throws {
        let object = RowReference(root: root, key: key)
        let all = try stored(object)
        let removed = all.filter { columns?.contains($0.conflict.column ?? "") != false }.map(\.number)
        guard !removed.isEmpty else { return }
        noteWritten()
        try connection.query(
            "DELETE FROM \(sql.own("bmo_conflicts")) WHERE ord = ANY($1::bigint[])", [.bigints(removed)],
            for: "writing conflicts")
        knownConflicts[object] = all.filter { !removed.contains($0.number) }
    }

    func renameConflicts(_ root: Int, from old: RowKey, to new: RowKey) throws {
        let before = RowReference(root: root, key: old)
        var moved = try stored(before)
        guard !moved.isEmpty else { return }
        try removeConflicts(root, new, columns: moved.map { $0.conflict.column ?? "" })
        let after = RowReference(root: root, key: new)
        let others = try stored(after)
        noteWritten()
        try connection.query(
            "UPDATE \(sql.own("bmo_conflicts")) SET key = $2::text WHERE ord = ANY($1::bigint[])",
            [.bigints(moved.map(\.number)), .text(JSONText.key(new).string)], for: "writing conflicts")
        for index in moved.indices { moved[index].conflict.key = new }
        knownConflicts[before] = []
        knownConflicts[after] = (others + moved).sorted { $0.number < $1.number }
    }

    func allConflicts() throws -> [EditConflict] {
        counters.hasConflicts ? try readConflicts().map { $0.stored.conflict } : []
    }

    /// Returns the conflicts of an object, in order of discovery.
    private func stored(_ object: RowReference) throws -> [StoredConflict] {
        if let known = knownConflicts[object] { return known }
        guard counters.hasConflicts, !knowsAllConflicts else { return [] }
        conflictQuestions += 1
        guard conflictQuestions > Self.mostQuestions else {
            let found = try readConflicts(
                where: "root = $1::text AND key = $2::text",
                [.text(name(object.root)), .text(JSONText.key(object.key).string)])
            let own = found.map { $0.stored }.filter { $0.conflict.key == object.key }
            knownConflicts[object] = own
            return own
        }
        let all = Dictionary(grouping: try readConflicts()) { RowReference(root: $0.root, key: $0.stored.conflict.key) }
        knownConflicts = all.mapValues { $0.map { $0.stored } }
        knowsAllConflicts = true
        return knownConflicts[object] ?? []
    }

    private func readConflicts(
        where condition: String = "true", _ parameters: [SQLParameter] = []
    ) throws -> [(root: Int, stored: StoredConflict)] {
        let result = try connection.query(
            """
            SELECT root, entity, key, attribute, base, local, remote, seen, ord FROM \(sql.own("bmo_conflicts"))
            WHERE \(condition) ORDER BY ord
            """, parameters, for: "reading conflicts")
        return (0..<result.count).compactMap { row in
            guard let root = model.index(of: result.text(row, 0) ?? "") else { return nil }
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
            return (root: root, stored: StoredConflict(number: result.bigint(row, 8) ?? 0, conflict: conflict))
        }
    }
}

extension StoredValue {
    /// Reads a value written by `JSONText.value`.
    init?(json text: String) {
        guard let parts = try? JSONParser.batch("[\(text)]") else { return nil }
        self = withExtendedLifetime(parts) { parts[0].elements.first.map(StoredValue.init(stored:)) ?? .null }
    }
}
