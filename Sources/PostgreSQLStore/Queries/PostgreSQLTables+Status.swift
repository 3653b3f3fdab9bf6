internal import Mapping
internal import StoreContract
internal import StoreRules

/// The status of the entities.
extension PostgreSQLTables {
    func rowCount(of layout: EntityLayout) throws -> Int {
        let table = try table(layout.root)
        var condition = SQLCondition(layout, table)
        try condition.addKinds()
        let rows =
            try connection.query(
                "SELECT count(*) FROM \(table.name) t WHERE \(condition.text)", condition.parameters,
                for: "counting rows of \(layout.name)"
            ).bigint(0, 0) ?? 0
        let keys = try stubs(of: layout.root)
        try prefetch(layout.root, keys)
        return try Int(rows) - keys.count { try row(layout.root, $0).map(layout.contains) ?? false }
    }

    func stubCount(of layout: EntityLayout) throws -> Int {
        layout.index == layout.root ? try stubs(of: layout.root).count : 0
    }

    func lastRun(changing entity: String) throws -> (id: Int64, started: String?)? {
        let newest = try connection.query(
            "SELECT max(run) FROM \(sql.own("bmo_changes")) WHERE entity = $1::text", [.text(entity)],
            for: "reading the last run of \(entity)")
        guard let id = newest.bigint(0, 0) else { return nil }
        return (id, try runs([id], limit: nil).first?.started)
    }

    func interruptedScan(of entity: String) throws -> EntityStatus.Scan? {
        let scan = try connection.query(
            """
            SELECT page, saved FROM \(sql.own("bmo_progress")) WHERE entity = $1::text ORDER BY saved DESC LIMIT 1
            """, [.text(entity)], for: "reading the scans of \(entity)")
        guard scan.count > 0 else { return nil }
        return EntityStatus.Scan(page: Int(scan.bigint(0, 0) ?? 0), saved: scan.text(0, 1) ?? "")
    }

    func cursors(of entity: String) throws -> [SourceCursors] {
        let result = try connection.query(
            """
            SELECT source, newest, token IS NOT NULL, saved, full_at FROM \(sql.own("bmo_cursors"))
            WHERE entity = $1::text
            """, [.text(entity)], for: "reading the cursors of \(entity)")
        return SourceCursors.summarize(
            (0..<result.count).map { row in
                SourceCursors(
                    source: result.text(row, 0) ?? "", count: 1,
                    newest: result.text(row, 1).flatMap(StoredValue.init(json:)), hasToken: result.boolean(row, 2),
                    saved: result.text(row, 3) ?? "", full: result.text(row, 4) ?? "")
            })
    }
}
