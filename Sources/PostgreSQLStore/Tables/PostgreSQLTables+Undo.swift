internal import Mapping
internal import StoreContract
internal import StoreRules

/// The history as an undo reads it.
extension PostgreSQLTables {
    func laterRuns(than run: Int64) throws -> LaterRuns {
        let result = try connection.query(
            """
            SELECT id, undoes FROM \(sql.own("bmo_runs")) WHERE id > $1::bigint AND undoes IS NOT NULL ORDER BY id DESC
            """, [.bigint(run)], for: "reading runs")
        return LaterRuns(
            than: run, undos: (0..<result.count).map { (result.bigint($0, 0) ?? 0, result.bigint($0, 1) ?? 0) })
    }

    func forEachChange(ofRun run: Int64, newestFirst: Bool, _ body: (ChangeRecord) throws -> Void) throws {
        var last = newestFirst ? Int64.max : .min
        while true {
            let records = try changes(
                where: "run = $1::bigint AND id \(newestFirst ? "<" : ">") $2::bigint", [.bigint(run), .bigint(last)],
                order: "id \(newestFirst ? "DESC" : "") LIMIT \(Self.readPortion)")
            guard let end = records.last else { return }
            for record in records { try body(record) }
            last = end.id
        }
    }

    func forEachLaterChange(
        than run: Int64, _ later: LaterRuns,
        _ body: (_ entity: String, _ key: String, _ run: Int64, _ change: RowChange.Kind) throws -> Void
    ) throws {
        try flushChanges()
        let changes = sql.own("bmo_changes")
        let result = try connection.query(
            """
            SELECT DISTINCT ON (l.entity COLLATE "C", l.key COLLATE "C") l.entity, l.key, l.run, l.change
            FROM (SELECT DISTINCT entity, key FROM \(changes) WHERE run = $1::bigint AND key IS NOT NULL) AS t
                JOIN \(changes) AS l ON l.entity = t.entity AND l.key = t.key
            WHERE l.run > $1 AND l.run <> ALL($2::bigint[])
            ORDER BY l.entity COLLATE "C", l.key COLLATE "C", l.id
            """, [.bigint(run), .bigints(later.cancelled.sorted())], for: "reading later changes")
        for row in 0..<result.count {
            try body(
                result.text(row, 0) ?? "", result.text(row, 1) ?? "", result.bigint(row, 2) ?? 0,
                Self.kind(result.text(row, 3)))
        }
    }

    func laterChange(of entity: String, key: String, than run: Int64, _ later: LaterRuns) throws -> LaterChange? {
        try flushChanges()
        let result = try connection.query(
            """
            SELECT run, change, old IS NULL FROM \(sql.own("bmo_changes"))
            WHERE entity = $1::text AND key = $2::text AND run > $3::bigint AND run <> ALL($4::bigint[])
            ORDER BY id LIMIT 1
            """, [.text(entity), .text(key), .bigint(run), .bigints(later.cancelled.sorted())],
            for: "reading later changes")
        guard result.count == 1 else { return nil }
        return LaterChange(
            run: result.bigint(0, 0) ?? 0, change: Self.kind(result.text(0, 1)), isNew: result.boolean(0, 2))
    }

    private static func kind(_ text: String?) -> RowChange.Kind { text.flatMap(RowChange.Kind.init) ?? .updated }

    func missingTargets(of root: Int, _ toOne: Int) throws -> [RowKey] {
        let relationship = model.entities[root].toOne[toOne]
        let target = model.entities[relationship.target].root
        var missing: [RowKey] = []
        var known: Set<RowKey> = []
        try forEachRow(of: root) { _, _, values in
            let key = Array(values[relationship.firstField..<relationship.firstField + relationship.fieldCount])
            guard !key.contains(.null), known.insert(key).inserted else { return }
            if try row(target, key) == nil { missing.append(key) }
        }
        return missing
    }

    func forgetScans(ofEntities entities: [String]) throws {
        for entity in entities { try forgetScans(of: entity, parent: nil) }
    }
}
