public import StoreContract
internal import StoreRules
internal import GRDB
internal import Mapping

extension SQLiteStore {
    /// Returns the status of each entity of the model.
    ///
    /// - Throws: ``StoreError``.
    public func status() throws -> [EntityStatus] {
        try read("reading the status") { db in
            try model.entities.map { layout in
                func count(_ sql: String) throws -> Int {
                    try Int.fetchOne(db, sql: sql, arguments: [layout.name]) ?? 0
                }
                let last = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT id, started FROM bmo_runs
                        WHERE id = (SELECT max(run) FROM bmo_changes WHERE entity = ?)
                        """, arguments: [layout.name])
                let place = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT page, saved FROM bmo_progress WHERE entity = ? ORDER BY saved DESC LIMIT 1
                        """, arguments: [layout.name])
                return EntityStatus(
                    name: layout.name,
                    rows: try Int.fetchOne(
                        db,
                        sql: "SELECT count(*) FROM \(SchemaBuilder.quoted(layout.table)) "
                            + "WHERE \(CompiledQuery.isOfKind(layout) ?? "true")"
                    ).map {
                        try $0 - countedStubs(of: layout, in: db)
                    } ?? 0,
                    stubs: try count("SELECT count(*) FROM bmo_stubs WHERE entity = ?"),
                    quarantined: try count("SELECT count(*) FROM bmo_quarantine WHERE entity = ?"),
                    lastRun: last?["id"], lastChanged: last?["started"],
                    interrupted: place.map { EntityStatus.Scan(page: $0["page"], saved: $0["saved"]) },
                    cursors: try cursors(of: layout.name, in: db))
            }
        }
    }

    /// Returns how many rows of an entity and its sub-entities are stubs.
    private func countedStubs(of layout: EntityLayout, in db: Database) throws -> Int {
        let root = model.entities[layout.root]
        guard let kind = CompiledQuery.isOfKind(layout) else {
            return try Int.fetchOne(
                db, sql: "SELECT count(*) FROM bmo_stubs WHERE entity = ?", arguments: [root.name]) ?? 0
        }
        let condition = root.key.map { "\(SchemaBuilder.quoted(root.fields[$0].name)) = ?" }
        let select = try RawStatement(
            "SELECT 1 FROM \(SchemaBuilder.quoted(root.table)) "
                + "WHERE \((condition + [kind]).joined(separator: " AND "))", on: db.sqliteConnection)
        let keys = try String.fetchCursor(
            db, sql: "SELECT key FROM bmo_stubs WHERE entity = ?", arguments: [root.name])
        var count = 0
        while let text = try keys.next() {
            guard let key = root.key(from: text) else { continue }
            for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
            if try select.step() { count += 1 }
            select.reset()
        }
        return count
    }

    /// Describes what the next scans will request: one line for the entity itself and one for each further source.
    private func cursors(of entity: String, in db: Database) throws -> [String] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT source, count(*) AS count, max(newest) AS newest, max(full_at) AS full_at, max(saved) AS saved,
                    max(token IS NOT NULL) AS has_token
                FROM bmo_cursors WHERE entity = ? GROUP BY source ORDER BY source
                """, arguments: [entity])
        return rows.map { row in
            EntityStatus.line(
                ofScan: row["source"], cursors: row["count"],
                newest: (row["newest"] as DatabaseValue).isNull ? nil : String.fromDatabaseValue(row["newest"]),
                hasToken: row["has_token"], saved: row["saved"], full: row["full_at"])
        }
    }

    /// Returns the keys of an entity's stubs as JSON arrays, in order.
    ///
    /// - Throws: ``StoreError``.
    public func stubs(of entity: String) throws -> [String] {
        try read("reading the stubs") { db in
            try String.fetchAll(db, sql: "SELECT key FROM bmo_stubs WHERE entity = ? ORDER BY key", arguments: [entity])
        }
    }
}
