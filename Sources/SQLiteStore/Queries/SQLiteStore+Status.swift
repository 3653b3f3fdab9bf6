public import StoreContract
internal import StoreRules
internal import GRDB
internal import Mapping

extension SQLiteStore {
    /// Returns the status of each entity of the model.
    ///
    /// - Throws: `StoreError`.
    public func status() throws -> [EntityStatus] {
        try read("reading the status") { db in
            let tables = SQLiteStatusTables(db: db, model: model)
            return try model.entities.map { try tables.status(of: $0) }
        }
    }

    /// Returns the keys of an entity's stubs as JSON arrays, in order.
    ///
    /// - Throws: `StoreError`.
    public func stubs(of entity: String) throws -> [String] {
        try read("reading the stubs") { db in
            try String.fetchAll(db, sql: "SELECT key FROM bmo_stubs WHERE entity = ? ORDER BY key", arguments: [entity])
        }
    }
}

/// The tables of the file, for the status of its entities.
private struct SQLiteStatusTables: StatusTables {
    let db: Database
    let model: CompiledModel

    func rowCount(of layout: EntityLayout) throws -> Int {
        let rows = try Int.fetchOne(
            db,
            sql: "SELECT count(*) FROM \(SchemaBuilder.quoted(layout.table)) "
                + "WHERE \(CompiledQuery.isOfKind(layout) ?? "true")")
        return try rows.map { try $0 - countedStubs(of: layout) } ?? 0
    }

    /// Returns how many rows of an entity and its sub-entities are stubs.
    private func countedStubs(of layout: EntityLayout) throws -> Int {
        let root = model.entities[layout.root]
        guard let kind = CompiledQuery.isOfKind(layout) else {
            return try Int.fetchOne(
                db, sql: "SELECT count(*) FROM bmo_stubs WHERE entity = ?", arguments: [root.name]) ?? 0
        }
        let condition = root.key.map { "\(SchemaBuilder.quoted(root.fields[$0].name)) = ?" }
        let select = RawStatement(
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

    func stubCount(of layout: EntityLayout) throws -> Int {
        try count("SELECT count(*) FROM bmo_stubs WHERE entity = ?", [layout.name])
    }

    func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        try count("SELECT count(*) FROM bmo_quarantine WHERE entity = ? AND last_seen >= ?", [entity, instant])
    }

    private func count(_ sql: String, _ arguments: StatementArguments) throws -> Int {
        try Int.fetchOne(db, sql: sql, arguments: arguments) ?? 0
    }

    func lastRun(changing entity: String) throws -> (id: Int64, started: String?)? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT id, started FROM bmo_runs WHERE id = (SELECT max(run) FROM bmo_changes WHERE entity = ?)
                """, arguments: [entity]
        ).map { ($0["id"], $0["started"]) }
    }

    func interruptedScan(of entity: String) throws -> EntityStatus.Scan? {
        try Row.fetchOne(
            db, sql: "SELECT page, saved FROM bmo_progress WHERE entity = ? ORDER BY saved DESC LIMIT 1",
            arguments: [entity]
        ).map { EntityStatus.Scan(page: $0["page"], saved: $0["saved"]) }
    }

    func cursors(of entity: String) throws -> [SourceCursors] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT source, count(*) AS count, max(newest) AS newest, max(full_at) AS full_at, max(saved) AS saved,
                    max(token IS NOT NULL) AS has_token
                FROM bmo_cursors WHERE entity = ? GROUP BY source ORDER BY source
                """, arguments: [entity]
        ).map { row in
            SourceCursors(
                source: row["source"], count: row["count"], newest: Self.watermark(row["newest"]),
                hasToken: row["has_token"], saved: row["saved"], full: row["full_at"])
        }
    }

    /// A watermark is an integer or a text.
    private static func watermark(_ value: DatabaseValue) -> StoredValue? {
        switch value.storage {
        case .int64(let number): .integer(number)
        case .string(let text): .text(text)
        default: nil
        }
    }
}
