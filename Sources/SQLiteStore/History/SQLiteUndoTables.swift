internal import GRDB
internal import Mapping
internal import StoreContract
internal import StoreRules

/// The history of a file as an undo reads it, in the transaction that reverts a run.
///
/// Rows and changes are read in chunks, between which the undo writes.
final class SQLiteUndoTables: UndoTables {
    /// The number of rows read at a time.
    private static let chunk: Int64 = 500

    private let model: CompiledModel
    private let db: Database
    private let statements: StatementCache

    init(_ model: CompiledModel, in db: Database) {
        self.model = model
        self.db = db
        statements = StatementCache(on: db.sqliteConnection)
    }

    func laterRuns(than run: Int64) throws -> LaterRuns { try LaterRuns(than: run, in: db) }

    // MARK: - Changes

    func forEachChange(ofRun run: Int64, newestFirst: Bool, _ body: (ChangeRecord) throws -> Void) throws {
        let select = statements(
            """
            SELECT \(ChangeRecord.columns) FROM bmo_changes WHERE run = ?1
            AND \(newestFirst ? "id < ?2 ORDER BY id DESC" : "id > ?2 ORDER BY id") LIMIT \(Self.chunk)
            """)
        var last = newestFirst ? Int64.max : .min
        while true {
            select.bind(run, at: 1)
            select.bind(last, at: 2)
            let records = try ChangeRecord.all(select)
            guard let end = records.last else { return }
            for record in records { try body(record) }
            last = end.id
        }
    }

    func forEachLaterChange(
        than run: Int64, _ later: LaterRuns,
        _ body: (_ entity: String, _ key: String, _ run: Int64, _ change: RowChange.Kind) throws -> Void
    ) throws {
        let select = statements(
            """
            SELECT l.entity, l.key, l.run, l.change, min(l.id) FROM
                (SELECT DISTINCT entity, key FROM bmo_changes WHERE run = ?1 AND key IS NOT NULL) AS t
                JOIN bmo_changes AS l ON l.entity = t.entity AND l.key = t.key
            WHERE l.run > ?1 AND \(later.condition("l.run")) GROUP BY l.entity, l.key
            ORDER BY l.entity, l.key
            """)
        select.bind(run, at: 1)
        defer { select.reset() }
        while try select.step() {
            try body(select.text(0) ?? "", select.text(1) ?? "", select.int64(2), Self.kind(select.text(3)))
        }
    }

    func laterChange(of entity: String, key: String, than run: Int64, _ later: LaterRuns) throws -> LaterChange? {
        let select = statements(
            """
            SELECT run, change, old IS NULL FROM bmo_changes
            WHERE entity = ?1 AND key = ?2 AND run > ?3 AND \(later.condition("run")) ORDER BY id LIMIT 1
            """)
        select.bind(entity, at: 1)
        select.bind(key, at: 2)
        select.bind(run, at: 3)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return LaterChange(run: select.int64(0), change: Self.kind(select.text(1)), isNew: select.int64(2) != 0)
    }

    private static func kind(_ text: String?) -> RowChange.Kind { text.flatMap(RowChange.Kind.init) ?? .updated }

    // MARK: - Rows

    func forEachRow(
        of root: Int, _ body: (_ number: Int64, _ key: RowKey, _ values: [StoredValue]) throws -> Void
    ) throws {
        let layout = model.entities[root]
        let columns = layout.fields.map { SchemaBuilder.quoted($0.name) }.joined(separator: ", ")
        let select = statements(
            """
            SELECT \(layout.rowIDName), \(columns) FROM \(SchemaBuilder.quoted(layout.name))
            WHERE \(layout.rowIDName) > ? ORDER BY \(layout.rowIDName) LIMIT \(Self.chunk)
            """)
        // Less than any rowid.
        var last = StoredValue.real(-1e19)
        while true {
            select.bind(last, at: 1)
            var rows: [(number: Int64, values: [StoredValue])] = []
            while try select.step() {
                let number = select.int64(0)
                last = .integer(number)
                rows.append((number, layout.fields.indices.map { select.value(Int32($0 + 1)) }))
            }
            select.reset()
            guard !rows.isEmpty else { return }
            for (number, row) in rows {
                try body(number, layout.key.isEmpty ? [.integer(number)] : layout.key.map { row[$0] }, row)
            }
        }
    }

    func missingTargets(of root: Int, _ toOne: Int) throws -> [RowKey] {
        let layout = model.entities[root]
        let relationship = layout.toOne[toOne]
        let quoted = SchemaBuilder.quoted
        let columns = (0..<relationship.fieldCount).map { quoted(layout.fields[relationship.firstField + $0].name) }
        let target = model.entities[model.entities[relationship.target].root]
        let keys = target.key.map { quoted(target.fields[$0].name) }
        let match = zip(columns, keys).map { "t.\($1) = s.\($0)" }.joined(separator: " AND ")
        let select = statements(
            """
            SELECT DISTINCT \(columns.joined(separator: ", ")) FROM \(quoted(layout.name)) AS s
            WHERE \(columns.map { "s.\($0) IS NOT NULL" }.joined(separator: " AND "))
                AND NOT EXISTS (SELECT 1 FROM \(quoted(target.name)) AS t WHERE \(match))
            """)
        return try select.rows(width: columns.count)
    }

    // MARK: - Scans

    func sourceScans(of entity: String) throws -> Set<String> {
        Set(
            try String.fetchAll(
                db, sql: "SELECT DISTINCT walk FROM bmo_sources WHERE entity = ?", arguments: [entity]))
    }

    func forgetScans(ofEntities entities: [String]) throws {
        for table in ["bmo_progress", "bmo_cursors", "bmo_seen", "bmo_list_owners", "bmo_waiting_lists"]
        where try db.tableExists(table) {
            guard try db.columns(in: table).contains(where: { $0.name == "entity" }) else { continue }
            for entity in entities {
                try db.execute(sql: "DELETE FROM \(table) WHERE entity = ?", arguments: [entity])
            }
        }
    }
}
