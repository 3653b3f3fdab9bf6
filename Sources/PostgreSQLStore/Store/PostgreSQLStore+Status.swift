internal import Mapping
internal import StoreContract
internal import StoreRules

/// The status of the entities.
extension PostgreSQLStore {
    /// Returns the status of each entity of the model.
    func status() throws -> [EntityStatus] {
        try read { tables in try model.entities.map { try status(of: $0, tables) } }
    }

    private func status(of layout: EntityLayout, _ tables: PostgreSQLTables) throws -> EntityStatus {
        let table = try tables.table(layout.root)
        var condition = SQLCondition(layout, table)
        try condition.addKinds()
        var rows =
            try tables.connection.query(
                "SELECT count(*) FROM \(table.name) t WHERE \(condition.text)", condition.parameters,
                for: "counting rows of \(layout.name)"
            ).bigint(0, 0) ?? 0
        let keys = try tables.stubs(of: layout.root)
        try tables.prefetch(layout.root, keys)
        for key in keys { if let row = try tables.row(layout.root, key), layout.contains(row) { rows -= 1 } }
        let own = try tables.connection.query(
            """
            SELECT (SELECT count(*) FROM \(sql.own("bmo_quarantine")) WHERE entity = $1::text),
                (SELECT max(run) FROM \(sql.own("bmo_changes")) WHERE entity = $1)
            """, [.text(layout.name)], for: "reading the status of \(layout.name)")
        let lastRun = own.bigint(0, 1)
        let run = try lastRun.flatMap { try tables.runs(where: "id = $1::bigint", [.bigint($0)]).first }
        let interrupted = try tables.connection.query(
            """
            SELECT page, saved FROM \(sql.own("bmo_progress")) WHERE entity = $1::text ORDER BY saved DESC LIMIT 1
            """, [.text(layout.name)], for: "reading the scans of \(layout.name)")
        return EntityStatus(
            name: layout.name, rows: Int(rows), stubs: layout.index == layout.root ? keys.count : 0,
            quarantined: Int(own.bigint(0, 0) ?? 0), lastRun: lastRun, lastChanged: run?.started,
            interrupted: interrupted.count == 0
                ? nil
                : EntityStatus.Scan(
                    page: Int(interrupted.bigint(0, 0) ?? 0), saved: interrupted.text(0, 1) ?? ""),
            cursors: try cursors(of: layout.name, tables))
    }

    private func cursors(of entity: String, _ tables: PostgreSQLTables) throws -> [String] {
        let result = try tables.connection.query(
            """
            SELECT source, newest, token IS NOT NULL, saved, full_at FROM \(sql.own("bmo_cursors"))
            WHERE entity = $1::text ORDER BY source
            """, [.text(entity)], for: "reading the cursors of \(entity)")
        return Dictionary(grouping: 0..<result.count, by: { result.text($0, 0) ?? "" }).sorted { $0.key < $1.key }
            .map { source, rows in
                let values = rows.compactMap { result.text($0, 1).flatMap(StoredValue.init(json:)) }
                let newest = values.reduce(nil as StoredValue?) { newest, value in
                    newest.map { Watermark.isNewer(value, than: $0) ? value : $0 } ?? value
                }
                return EntityStatus.line(
                    ofScan: source, cursors: rows.count, newest: newest,
                    hasToken: rows.contains { result.boolean($0, 2) },
                    saved: rows.compactMap { result.text($0, 3) }.max(),
                    full: rows.compactMap { result.text($0, 4) }.max())
            }
    }
}
