internal import GRDB
internal import Importer
internal import Mapping

/// Makes a file's tables fit the model: new tables and new columns are added, anything else is refused in words.
enum SchemaUpdate {
    /// Bookkeeping tables, in the order in which versions of bmo added them.
    ///
    /// Append only.
    private static let migrations: [(name: String, sql: String)] = [
        (
            "1 walks, quarantine, stubs, runs",
            """
            CREATE TABLE bmo_progress (
                entity TEXT PRIMARY KEY NOT NULL, cursor TEXT NOT NULL, page INTEGER NOT NULL,
                request TEXT NOT NULL, saved TEXT NOT NULL
            ) STRICT;
            CREATE TABLE bmo_quarantine (
                id INTEGER PRIMARY KEY, entity TEXT NOT NULL, bridge TEXT NOT NULL, page INTEGER NOT NULL,
                record INTEGER, reason TEXT NOT NULL, representation TEXT NOT NULL, location TEXT,
                first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, fingerprint INTEGER NOT NULL,
                UNIQUE (entity, fingerprint)
            ) STRICT;
            CREATE TABLE bmo_stubs (
                entity TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (entity, key)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE bmo_runs (
                id INTEGER PRIMARY KEY, started TEXT NOT NULL, finished TEXT NOT NULL, outcome TEXT NOT NULL,
                summary TEXT NOT NULL
            ) STRICT;
            """
        ),
        (
            "2 history and provenance",
            """
            ALTER TABLE bmo_runs RENAME TO bmo_runs_1;
            CREATE TABLE bmo_runs (
                id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, started TEXT NOT NULL, finished TEXT,
                outcome TEXT NOT NULL, summary TEXT, undoes INTEGER
            ) STRICT;
            INSERT INTO bmo_runs SELECT id, 'sync', started, finished, outcome, summary, NULL FROM bmo_runs_1;
            DROP TABLE bmo_runs_1;
            CREATE TABLE bmo_changes (
                id INTEGER PRIMARY KEY, run INTEGER NOT NULL, entity TEXT NOT NULL, key TEXT, change TEXT NOT NULL,
                old TEXT, new TEXT, bridge TEXT, walk TEXT, location TEXT
            ) STRICT;
            CREATE INDEX bmo_changes_by_run ON bmo_changes (run);
            CREATE INDEX bmo_changes_by_key ON bmo_changes (entity, key);
            CREATE TABLE bmo_sources (
                id INTEGER PRIMARY KEY, entity TEXT NOT NULL, bridge TEXT NOT NULL, walk TEXT NOT NULL,
                columns TEXT NOT NULL, UNIQUE (entity, bridge, walk, columns)
            ) STRICT;
            CREATE TABLE bmo_provenance (
                entity TEXT NOT NULL, key TEXT NOT NULL, source INTEGER NOT NULL REFERENCES bmo_sources (id),
                first_run INTEGER NOT NULL, last_run INTEGER NOT NULL, location TEXT, listed INTEGER NOT NULL,
                PRIMARY KEY (entity, key, source)
            ) STRICT, WITHOUT ROWID;
            ALTER TABLE bmo_quarantine ADD COLUMN cut_from INTEGER;
            """
        ),
    ]

    /// Whether the file was made for just this model: then there is nothing to do, and no lock to wait for.
    static func isCurrent(_ model: CompiledModel, in db: Database) throws -> Bool {
        guard try db.tableExists("bmo_meta") else { return false }
        let tables = SchemaBuilder(model).tables
        let values = try Row.fetchAll(db, sql: "SELECT name, value FROM bmo_meta")
        func value(_ name: String) -> String? { values.first { $0["name"] == name }?["value"] }
        guard value("version") == String(migrations.count), value("schema") == text(of: tables) else { return false }
        // Somebody may have dropped one.
        return try tables.allSatisfy { try db.tableExists($0.name) }
    }

    private static func text(of tables: [SchemaBuilder.Table]) -> String {
        tables.flatMap { [$0.sql] + $0.indexes }.joined(separator: ";\n")
    }

    static func apply(_ model: CompiledModel, to db: Database) throws {
        try migrate(db)
        let tables = SchemaBuilder(model).tables
        for table in tables {
            let existing = try columns(of: table.name, in: db)
            if existing.isEmpty {
                try db.execute(sql: table.sql)
            } else {
                try extend(table, existing, in: db)
            }
            for index in table.indexes { try db.execute(sql: index) }
        }
        try db.execute(
            sql: "INSERT OR REPLACE INTO bmo_meta (name, value) VALUES ('schema', ?)", arguments: [text(of: tables)])
    }

    private static func migrate(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS bmo_meta (name TEXT PRIMARY KEY NOT NULL, value TEXT) STRICT")
        let version = try String.fetchOne(db, sql: "SELECT value FROM bmo_meta WHERE name = 'version'")
        let done = version.flatMap(Int.init) ?? 0
        guard done <= migrations.count else {
            throw StoreError(
                .schema,
                "the database was written by a newer bmo (bookkeeping \(done), this bmo knows \(migrations.count))",
                remedy: "use that bmo, or another file")
        }
        guard done < migrations.count else { return }
        for migration in migrations[done...] { try db.execute(sql: migration.sql) }
        try db.execute(
            sql: "INSERT OR REPLACE INTO bmo_meta (name, value) VALUES ('version', ?)",
            arguments: [String(migrations.count)])
    }

    private static func columns(of table: String, in db: Database) throws -> [SchemaBuilder.Column] {
        // A row per column of a reference, with the reference's number.
        let references = try Row.fetchAll(
            db,
            sql: """
                SELECT "from", "table", "to", count(*) OVER (PARTITION BY id) AS width
                FROM pragma_foreign_key_list(?)
                """, arguments: [table])
        return try Row.fetchAll(
            db, sql: "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", arguments: [table]
        ).map { row in
            var column = SchemaBuilder.Column(name: row["name"], type: row["type"], isKey: row["pk"] as Int > 0)
            for reference in references where reference["from"] as String == column.name {
                if reference["width"] as Int > 1 {
                    column.isPartOfReference = true
                } else {
                    column.target = SchemaBuilder.Reference(table: reference["table"], column: reference["to"] ?? "")
                }
            }
            return column
        }
    }

    private static func extend(
        _ table: SchemaBuilder.Table, _ existing: [SchemaBuilder.Column], in db: Database
    ) throws {
        for column in existing
        where column.isKey
            && !table.columns.contains(where: { $0.name.lowercased() == column.name.lowercased() && $0.isKey })
        {
            throw misfit(table.name, "its key has \(column.name), which the config's does not")
        }
        for column in table.columns {
            guard let present = existing.first(where: { $0.name.lowercased() == column.name.lowercased() }) else {
                guard !column.isKey else { throw misfit(table.name, "its key lacks \(column.name)") }
                // SQLite cannot add a reference of several columns to a table; the importer keeps those whole itself.
                let reference = column.target.map {
                    " REFERENCES \(SchemaBuilder.quoted($0.table)) (\(SchemaBuilder.quoted($0.column))) "
                        + "DEFERRABLE INITIALLY DEFERRED"
                }
                try db.execute(
                    sql: "ALTER TABLE \(SchemaBuilder.quoted(table.name)) "
                        + "ADD COLUMN \(SchemaBuilder.quoted(column.name)) \(column.type)\(reference ?? "")")
                continue
            }
            guard present.type == column.type else {
                throw misfit(table.name, "its column \(column.name) is \(present.type), the config's is \(column.type)")
            }
            guard present.isKey == column.isKey else {
                throw misfit(table.name, "its column \(column.name) is \(present.isKey ? "" : "not ")part of the key")
            }
            try checkReference(of: column, present, in: table)
        }
    }

    /// A reference to another table would refuse rows at the end of a page; without one, old values may lead nowhere.
    private static func checkReference(
        of column: SchemaBuilder.Column, _ present: SchemaBuilder.Column, in table: SchemaBuilder.Table
    ) throws {
        let isSame = column.target?.table.lowercased() == present.target?.table.lowercased()
        // Columns of a longer reference may have come later, without it.
        if column.isPartOfReference ? present.target == nil : isSame && !present.isPartOfReference { return }
        func words(_ column: SchemaBuilder.Column) -> String {
            column.target?.table ?? (column.isPartOfReference ? "an object together with others" : "nothing")
        }
        throw misfit(
            table.name, "its column \(column.name) refers to \(words(present)), the config's to \(words(column))")
    }

    private static func misfit(_ table: String, _ reason: String) -> StoreError {
        StoreError(
            .schema, "the table \(table) does not fit the config: \(reason)",
            remedy: "this version only adds tables and columns: name a new file under `database:` and sync again")
    }
}
