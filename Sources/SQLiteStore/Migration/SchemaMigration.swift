internal import GRDB
internal import GRDBSQLite
internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model
internal import RecordBatch

/// The execution of all steps of a plan in one transaction.
struct SchemaMigration {
    private let db: Database
    private let difference: SchemaDifference
    /// The rows and values that could not be kept, in words.
    private(set) var notes: [String] = []
    /// The runs that lost recorded changes.
    private(set) var forgottenRuns: Set<Int64> = []

    init(_ difference: SchemaDifference, in db: Database) {
        self.difference = difference
        self.db = db
    }

    /// Makes the changes; the caller has begun a transaction in which foreign keys are not enforced.
    ///
    /// - Throws: ``StoreError`` if the file would be damaged; the caller rolls back then.
    mutating func run() throws {
        for step in difference.steps where step.isLossless { try SchemaChange.make(step, in: db) }
        try checkOutbox()
        try checkReferencesOfOthers()
        try rebuild()
        for case .dropTable(let name) in difference.steps {
            let kinds = try BookkeepingNames(in: db).kinds(of: name, besides: difference.model.entities.map(\.name))
            try db.execute(sql: "DROP TABLE \(SchemaBuilder.quoted(name))")
            for entity in [name] + kinds { try BookkeepingNames(in: db).forget(entity: entity) }
            // A later list of its name does not take its changes.
            for (table, list) in RenameMap.droppedLists(ofTable: name, in: difference.model) {
                try BookkeepingNames(in: db).retire(list: list, of: table)
            }
        }
        try SchemaUpdate.finish(difference.tables, in: db)
        try addStubs()
        try check()
        try noteInvalidViews()
    }

    /// Refuses to change tables with pending edits, whose base values cannot be converted to other types or keys.
    private func checkOutbox() throws {
        let tables = difference.tables.map { table in
            WaitingEdits.Table(
                name: table.name, targets: table.references.map(\.target), isLinkTable: table.isFull)
        }
        let changes = difference.steps.map(\.change)
        for name in WaitingEdits.tables(of: changes, rekeyed: difference.rekeyed, among: tables) {
            let count =
                try Int.fetchOne(db, sql: "SELECT count(*) FROM bmo_outbox WHERE root = ?", arguments: [name]) ?? 0
            guard count > 0 else { continue }
            throw WaitingEdits.refusal(count, of: name)
        }
    }

    /// Refuses to take away a key to which tables of others refer: SQLite could not check their references any more.
    private func checkReferencesOfOthers() throws {
        let rekeyed = difference.rekeyed
        var dropped: Set<String> = []
        for case .dropTable(let name) in difference.steps { dropped.insert(name) }
        guard !rekeyed.isEmpty || !dropped.isEmpty else { return }
        let made = try ManagedTables(in: db)
        let references = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT t.name AS source, f."table" AS target
                FROM sqlite_schema AS t, pragma_foreign_key_list(t.name) AS f
                WHERE t.type = 'table' AND t.name NOT GLOB 'bmo_*' ORDER BY 1, 2
                """)
        for reference in references {
            let source: String = reference["source"]
            let target: String = reference["target"]
            guard !made.has(source), !difference.tables.contains(where: { $0.name == source }) else { continue }
            func isTarget(_ name: String) -> Bool { name.lowercased() == target.lowercased() }
            guard rekeyed.contains(where: isTarget) || dropped.contains(where: isTarget) else { continue }
            throw StoreError(
                .schema,
                "the table \(source), which bmo did not create, refers to \(target), "
                    + (dropped.contains(where: isTarget) ? "which is dropped" : "whose key changes"),
                remedy: "drop \(source) or its reference before the migration, and create it again after that")
        }
    }

    private mutating func rebuild() throws {
        var names: [String] = []
        for name in difference.steps.compactMap(\.rebuiltTable) where !names.contains(name) { names.append(name) }
        // References to objects under their old keys become references to the new keys.
        let rekeyed = Set(
            difference.steps.compactMap { step -> String? in
                if case .changeKey(let table, _, _) = step { table } else { nil }
            })
        for table in difference.tables
        where !names.contains(table.name) && table.references.contains(where: { rekeyed.contains($0.target) }) {
            names.append(table.name)
        }
        var rebuilds: [TableRebuild] = []
        for name in names {
            guard let table = difference.tables.first(where: { $0.name == name }),
                let existing = difference.existing[name.lowercased()]
            else { continue }
            var rebuild = TableRebuild(table.with(existing.others), existing.renamed, in: difference.renamed, db)
            for column in existing.others {
                notes.append("\(name).\(column.name), which bmo did not create, is kept, without its constraints")
            }
            let keys = try KeyedBookkeeping(of: name, on: db)
            let lost = try rebuild.fill { try keys.move(from: $0, to: $1) }
            if table.isFull { try noteLinks(lost, of: name) } else { try note(lost, of: name) }
            try keys.finish()
            rebuilds.append(rebuild)
        }
        // With this, renaming a table does not change references to its new name.
        try db.execute(sql: "PRAGMA legacy_alter_table = ON")
        defer { try? db.execute(sql: "PRAGMA legacy_alter_table = OFF") }
        for rebuild in rebuilds { notes += try rebuild.replace() }
        for name in names {
            // The history has columns, types and keys that no longer exist, so an undo would fail.
            try forgetHistory(of: name)
            // The rows have changed, so saved positions of scans are invalid.
            for table in NameColumns.positions where try db.tableExists(table) {
                try db.execute(sql: "DELETE FROM \(table) WHERE entity = ?", arguments: [name])
            }
        }
    }

    /// Deletes the recorded changes of a table's rows, or of the list whose links a table has, which its owner records.
    private mutating func forgetHistory(of name: String) throws {
        var (table, list): (String, String?) = (name, nil)
        if let found = RenameMap.list(ofLinkTable: name, in: difference.model) {
            (table, list) = (difference.model.root(of: found.owner).name, found.list.name)
        }
        let (count, runs) = try BookkeepingNames(in: db).forgetChanges(of: table, list: list)
        guard count > 0 else { return }
        forgottenRuns.formUnion(runs)
        let what = list.map { "\(table).\($0)" } ?? table
        notes.append("\(what): only the backup has its history so far (\(count) changes)")
    }

    /// Notes how many links are lost, and lets the next sync ask for all of their lists.
    ///
    /// They are not put into quarantine: no listing brings a link alone, so that they would stay there.
    private mutating func noteLinks(_ lost: [TableRebuild.Loss], of table: String) throws {
        let count = lost.count { $0.isWholeRow }
        guard count > 0, let (owner, list) = RenameMap.list(ofLinkTable: table, in: difference.model) else { return }
        for entity in difference.model.family(of: owner) {
            try db.execute(sql: "DELETE FROM bmo_cursors WHERE entity = ?", arguments: [entity.name])
        }
        notes.append(
            "\(owner.name).\(list.name): \(count) link\(count == 1 ? "" : "s") could not be kept; the next sync of "
                + "\(owner.name) asks for all lists again")
    }

    /// Quarantines the rows and values that do not fit, and notes how many there are.
    private mutating func note(_ lost: [TableRebuild.Loss], of table: String) throws {
        guard !lost.isEmpty else { return }
        let writer = QuarantineWriter(on: db.sqliteConnection)
        for loss in lost {
            try writer.write(QuarantinedRecord(rowOf: table, reason: loss.reason, row: loss.row))
        }
        let rows = lost.count { $0.isWholeRow }
        if rows > 0 {
            notes.append(
                "\(table): \(rows) row\(rows == 1 ? "" : "s") could not be kept; see `bmo quarantine \(table)`")
        }
        if lost.count > rows {
            let count = lost.count - rows
            notes.append(
                "\(table): \(count) value\(count == 1 ? " does" : "s do") not fit and \(count == 1 ? "is" : "are") null "
                    + "now; see `bmo quarantine \(table)`")
        }
    }

    /// Adds a stub for each missing target of a reference, as an import does.
    private func addStubs() throws {
        let quoted = SchemaBuilder.quoted
        for table in difference.tables {
            for reference in table.references {
                let columns = reference.columns.map(quoted).joined(separator: ", ")
                let keys = reference.targetColumns.map(quoted).joined(separator: ", ")
                let isThere = zip(reference.columns, reference.targetColumns)
                    .map { "t.\(quoted($1)) = s.\(quoted($0))" }.joined(separator: " AND ")
                let isGiven = reference.columns.map { "s.\(quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
                let statement = RawStatement(
                    """
                    SELECT DISTINCT \(columns) FROM \(quoted(table.name)) AS s
                    WHERE \(isGiven) AND NOT EXISTS (SELECT 1 FROM \(quoted(reference.target)) AS t WHERE \(isThere))
                    """, on: db.sqliteConnection)
                var missing: [[StoredValue]] = []
                while try statement.step() {
                    missing.append(reference.columns.indices.map { statement.value(Int32($0)) })
                }
                statement.reset()
                let insertion = RawStatement(
                    "INSERT INTO \(quoted(reference.target)) (\(keys)) "
                        + "VALUES (\(reference.columns.map { _ in "?" }.joined(separator: ", ")))",
                    on: db.sqliteConnection)
                let stub = RawStatement(
                    "INSERT INTO bmo_stubs (entity, key) VALUES (?, ?) ON CONFLICT DO NOTHING", on: db.sqliteConnection)
                for key in missing {
                    for (index, value) in key.enumerated() { insertion.bind(value, at: Int32(index + 1)) }
                    try insertion.run()
                    stub.bind(reference.target, at: 1)
                    stub.bind(utf8: JSONText.key(key).bytes, at: 2)
                    try stub.run()
                }
            }
        }
    }

    /// Notes views that read what was dropped: SQLite refuses each later rename until they are gone.
    private mutating func noteInvalidViews() throws {
        let views = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
        for view in views {
            do {
                _ = try db.makeStatement(sql: "SELECT * FROM \(SchemaBuilder.quoted(view))")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                notes.append("the view \(view) is not valid: \(error.message ?? ""); correct or drop it")
            }
        }
    }

    private func check() throws {
        let integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        let dangling = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row -> String in
            "\(row[0] as String) refers to \(row[2] as String) that does not exist"
        }
        guard let first = (integrity + dangling).first else { return }
        throw StoreError(
            .internal, "the migrated database would be damaged (\(first)); it is left as it was",
            remedy: "report this, and name a new file under `database:` meanwhile")
    }
}

extension SchemaDifference {
    /// The tables whose keys change, in their columns or the columns' types.
    fileprivate var rekeyed: Set<String> {
        Set(
            steps.compactMap { step -> String? in
                switch step {
                case .changeKey(let table, _, _): table
                case .convert(let table, let column, _) where column.isKey: table
                default: nil
                }
            })
    }

    /// The same difference after the renames, when the file has the new names.
    fileprivate var renamed: SchemaDifference {
        var copy = self
        copy.forgetRenames()
        return copy
    }
}

/// The bookkeeping that refers to rows by key: stubs and provenance follow a row to its new key.
private struct KeyedBookkeeping {
    private static let tables = ["bmo_stubs", "bmo_provenance", "bmo_orphans"]
    private let table: String
    private let tables: [String]
    private let moves: [RawStatement]
    private let removals: [RawStatement]
    private let db: Database

    init(of table: String, on db: Database) throws {
        self.table = table
        self.db = db
        let tables = try Self.tables.filter { try db.tableExists($0) }
        self.tables = tables
        removals = tables.map {
            RawStatement("DELETE FROM \($0) WHERE entity = ? AND key = ?", on: db.sqliteConnection)
        }
        // Rows may swap keys, so new keys are marked until all rows have moved.
        moves = tables.map {
            RawStatement(
                "UPDATE OR REPLACE \($0) SET key = '+' || ?1 WHERE entity = ?2 AND key = ?3", on: db.sqliteConnection)
        }
    }

    /// Moves the bookkeeping of a row to its new key.
    ///
    /// - Parameter new: The new key; nil if the row no longer exists.
    func move(from old: JSONText, to new: JSONText?) throws {
        guard let new else {
            for statement in removals {
                statement.bind(table, at: 1)
                statement.bind(utf8: old.bytes, at: 2)
                try statement.run()
            }
            return
        }
        for statement in moves {
            statement.bind(utf8: new.bytes, at: 1)
            statement.bind(table, at: 2)
            statement.bind(utf8: old.bytes, at: 3)
            try statement.run()
        }
    }

    func finish() throws {
        for name in tables {
            try db.execute(
                sql: "UPDATE OR REPLACE \(name) SET key = substr(key, 2) WHERE entity = ? AND key GLOB '+*'",
                arguments: [table])
        }
    }
}
