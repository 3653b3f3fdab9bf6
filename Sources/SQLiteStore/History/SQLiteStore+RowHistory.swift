public import StoreContract
internal import GRDB
public import Mapping
internal import Model
internal import StoreRules

extension SQLiteStore {
    /// Returns the sources and changes of a row.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - key: The values of the row's key.
    /// - Throws: `StoreError`.
    public func history(of entity: Int, key: [StoredValue]) throws -> RowHistory {
        let layout = model.entities[entity]
        // All bookkeeping uses the entity that has the table.
        let root = model.entities[layout.root]
        let text = JSONText.key(key)
        var history = RowHistory(
            entity: layout.name, key: key, values: nil, isStub: false, isListed: true, groups: [], events: [],
            quarantined: [])
        try read("reading the history of \(layout.name)") { db in
            let condition =
                layout.key.map { "\(SchemaBuilder.quoted(layout.fields[$0].name)) = ?" }
                + [CompiledQuery.isOfKind(layout)].compactMap { $0 }
            let select = RawStatement(
                "SELECT \(layout.columns.map { SchemaBuilder.quoted($0.name) }.joined(separator: ", ")) "
                    + "FROM \(SchemaBuilder.quoted(layout.table)) WHERE \(condition.joined(separator: " AND "))",
                on: db.sqliteConnection)
            for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
            if try select.step() { history.values = select.values(of: layout.columns) }
            history.isStub =
                try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?)",
                    arguments: [root.name, text.string]) ?? false
            history.events = try events(root, text, in: db)
            history.addSources(try sources(root, text, in: db), layout, in: model)
        }
        return history
    }

    private func events(_ layout: EntityLayout, _ key: JSONText, in db: Database) throws -> [RowHistory.Event] {
        let select = RawStatement(
            """
            SELECT c.id, c.run, c.entity, c.key, c.change, c.old, c.new, c.bridge, c.walk, c.location, r.kind, r.started
            FROM bmo_changes AS c JOIN bmo_runs AS r ON r.id = c.run
            WHERE c.id IN (
                SELECT id FROM bmo_changes WHERE entity = ?1 AND key = ?2
                UNION ALL SELECT id FROM bmo_changes WHERE entity = ?1 AND key IS NULL
            ) ORDER BY c.run DESC, c.id
            """, on: db.sqliteConnection)
        select.bind(layout.name, at: 1)
        select.bind(utf8: key.bytes, at: 2)
        var records: [ChangeRecord] = []
        var runs: [RunRecord] = []
        while try select.step() {
            let record = try ChangeRecord(select)
            if runs.last?.id != record.run {
                runs.append(
                    RunRecord(
                        id: record.run, kind: select.text(10) ?? "", started: select.text(11) ?? "", outcome: ""))
            }
            records.append(record)
        }
        return RowHistory.events(records, of: runs, model)
    }

    private func sources(
        _ layout: EntityLayout, _ key: JSONText, in db: Database
    ) throws -> [ProvenanceRecord] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT s.bridge, s.walk, s.columns, p.first_run, p.last_run, p.location, p.listed
                FROM bmo_provenance p JOIN bmo_sources s ON s.id = p.source
                WHERE p.entity = ? AND p.key = ? ORDER BY p.last_run
                """, arguments: [layout.name, key.string]
        ).map { row in
            ProvenanceRecord(
                bridge: row["bridge"], scan: row["walk"],
                columns: Set((row["columns"] as String).split(separator: " ").map(String.init)),
                firstRun: row["first_run"], lastRun: row["last_run"], location: row["location"],
                isListed: row["listed"])
        }
    }
}
