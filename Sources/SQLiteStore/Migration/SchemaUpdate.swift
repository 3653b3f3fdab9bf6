internal import GRDB
internal import StoreContract
internal import Mapping

/// The adaptation of a file's tables to the model: tables and columns are added and renamed; other changes are refused.
enum SchemaUpdate {
    /// The bookkeeping tables, in the order in which versions of bmo added them.
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
                first_run INTEGER, last_run INTEGER, location TEXT, listed INTEGER NOT NULL,
                PRIMARY KEY (entity, key, source)
            ) STRICT, WITHOUT ROWID;
            ALTER TABLE bmo_quarantine ADD COLUMN cut_from INTEGER;
            """
        ),
        (
            "3 walks by source and parent, their cursors, seen rows, orphans",
            """
            DROP TABLE bmo_progress;
            CREATE TABLE bmo_progress (
                entity TEXT NOT NULL, source TEXT NOT NULL, parent TEXT NOT NULL, cursor TEXT NOT NULL,
                page INTEGER NOT NULL, request TEXT NOT NULL, newest ANY, newest_remote TEXT,
                schema_version INTEGER NOT NULL, saved TEXT NOT NULL, PRIMARY KEY (entity, source, parent)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE bmo_cursors (
                entity TEXT NOT NULL, source TEXT NOT NULL, parent TEXT NOT NULL, token TEXT, newest ANY,
                newest_remote TEXT, request TEXT NOT NULL, full_at TEXT NOT NULL, saved TEXT NOT NULL,
                PRIMARY KEY (entity, source, parent)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE bmo_seen (
                entity TEXT NOT NULL, source TEXT NOT NULL, parent TEXT NOT NULL, page INTEGER NOT NULL,
                rows BLOB NOT NULL, PRIMARY KEY (entity, source, parent, page)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE bmo_orphans (
                walk TEXT NOT NULL, entity TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (walk, entity, key)
            ) STRICT, WITHOUT ROWID;
            """
        ),
        (
            "4 outbox and conflicts",
            """
            CREATE TABLE bmo_outbox (
                id INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, entity TEXT NOT NULL, key TEXT NOT NULL,
                operation TEXT NOT NULL, changes TEXT NOT NULL, base TEXT, idempotency_key TEXT NOT NULL,
                state TEXT NOT NULL, attempts INTEGER NOT NULL, not_before TEXT, created TEXT NOT NULL,
                last_error TEXT, depends_on TEXT NOT NULL, is_temporary INTEGER NOT NULL, runs TEXT NOT NULL
            ) STRICT;
            CREATE INDEX bmo_outbox_by_key ON bmo_outbox (root, key);
            CREATE TABLE bmo_conflicts (
                id INTEGER PRIMARY KEY, root TEXT NOT NULL, entity TEXT NOT NULL, key TEXT NOT NULL, "column" TEXT,
                base TEXT, local TEXT, remote TEXT, seen TEXT NOT NULL
            ) STRICT;
            CREATE UNIQUE INDEX bmo_conflicts_by_key ON bmo_conflicts (root, key, ifnull("column", ''));
            """
        ),
        (
            "5 when a walk began",
            """
            ALTER TABLE bmo_progress ADD COLUMN began TEXT NOT NULL DEFAULT '';
            """
        ),
        (
            "6 edits that the remote took during a walk",
            """
            CREATE TABLE bmo_acknowledged (
                id INTEGER PRIMARY KEY, root TEXT NOT NULL, entity TEXT NOT NULL, key TEXT NOT NULL,
                operation TEXT NOT NULL, changes TEXT NOT NULL, base TEXT, created TEXT NOT NULL
            ) STRICT;
            CREATE INDEX bmo_acknowledged_by_key ON bmo_acknowledged (root, key);
            """
        ),
        (
            "7 edits that may have arrived",
            """
            ALTER TABLE bmo_outbox ADD COLUMN may_have_arrived INTEGER NOT NULL DEFAULT 0;
            UPDATE bmo_outbox SET may_have_arrived = 1 WHERE state IN ('sending', 'unknown');
            """
        ),
        (
            "8 lists that a walk brings in parts",
            """
            CREATE TABLE bmo_list_owners (
                entity TEXT NOT NULL, source TEXT NOT NULL, parent TEXT NOT NULL, place INTEGER NOT NULL,
                page INTEGER NOT NULL, owners BLOB NOT NULL, PRIMARY KEY (entity, source, parent, place)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE bmo_waiting_lists (
                entity TEXT NOT NULL, source TEXT NOT NULL, parent TEXT NOT NULL, hash INTEGER NOT NULL,
                root TEXT NOT NULL, relationship TEXT NOT NULL, owner TEXT NOT NULL, place INTEGER NOT NULL,
                listed TEXT NOT NULL, missing TEXT NOT NULL, PRIMARY KEY (entity, source, parent, hash)
            ) STRICT, WITHOUT ROWID;
            """
        ),
        (
            "9 what a program says about an edit",
            """
            ALTER TABLE bmo_outbox ADD COLUMN user_info TEXT;
            """
        ),
        (
            "10 where a record in quarantine comes from, and its key",
            """
            ALTER TABLE bmo_quarantine ADD COLUMN source TEXT;
            ALTER TABLE bmo_quarantine ADD COLUMN parent TEXT;
            ALTER TABLE bmo_quarantine ADD COLUMN key TEXT;
            CREATE INDEX bmo_quarantine_by_key ON bmo_quarantine (entity, key);
            """
        ),
    ]

    /// The bookkeeping tables of this version besides `bmo_meta`; some others are made when they are needed.
    private static let bookkeepingTables = [
        "bmo_acknowledged", "bmo_changes", "bmo_conflicts", "bmo_cursors", "bmo_list_owners", "bmo_orphans",
        "bmo_outbox", "bmo_progress", "bmo_provenance", "bmo_quarantine", "bmo_runs", "bmo_seen", "bmo_sources",
        "bmo_stubs", "bmo_waiting_lists",
    ]

    /// Returns whether the file was last adapted to this very model, so that no change and no lock is needed.
    ///
    /// - Parameter needsBookkeeping: Whether the file has to have all tables of the bookkeeping: they are used at any time
    ///   of a sync, and a missing one would be noticed only then.
    /// - Throws: ``StoreError`` of code `schema` that names those that are missing.
    static func isCurrent(_ model: CompiledModel, in db: Database, needsBookkeeping: Bool) throws -> Bool {
        // Not `tableExists`, which reads the whole schema at each start.
        let existing = try Set(
            String.fetchAll(db, sql: "SELECT lower(name) FROM sqlite_schema WHERE type = 'table'"))
        guard existing.contains("bmo_meta") else {
            if needsBookkeeping, bookkeepingTables.contains(where: existing.contains) { throw missing(["bmo_meta"]) }
            return false
        }
        let tables = SchemaBuilder(model).tables
        let values = try Row.fetchAll(db, sql: "SELECT name, value FROM bmo_meta")
        func value(_ name: String) -> String? { values.first { $0["name"] == name }?["value"] }
        guard value("version") == String(migrations.count) else { return false }
        let lost = bookkeepingTables.filter { !existing.contains($0) }
        if needsBookkeeping, !lost.isEmpty { throw missing(lost) }
        guard value("schema") == text(of: tables) else { return false }
        // A user may have dropped a table.
        return tables.allSatisfy { existing.contains($0.name.lowercased()) }
    }

    private static func missing(_ tables: [String]) -> StoreError {
        let (noun, verb) = tables.count == 1 ? ("table", "is") : ("tables", "are")
        return StoreError(
            .schema,
            "the \(noun) \(tables.joined(separator: ", ")), in which bmo keeps its own state, \(verb) missing",
            remedy: lossRemedy)
    }

    /// What to do about a file whose content is lost.
    static let lossRemedy =
        "restore the file from a backup, or name a new one under `database:`; edits that wait in bmo_outbox are only in "
        + "this file"

    private static func text(of tables: [SchemaBuilder.Table]) -> String {
        // A renamed sub-entity changes rows, and not the tables.
        let kinds = tables.flatMap { table in
            table.oldKinds.sorted { $0.key < $1.key }.map { "\(table.name) \($0.value) was \($0.key)" }
        }
        return tables.flatMap { [$0.sql] + $0.indexes + [$0.viewSQL].compactMap(\.self) }.joined(separator: ";\n")
            + ";\n-- " + (ManagedTables.lines(tables) + kinds).joined(separator: "\n-- ")
    }

    /// Adds and renames tables and columns.
    ///
    /// - Throws: ``StoreError`` of code `schema` if other changes are needed.
    static func apply(_ model: CompiledModel, to db: Database) throws {
        try migrate(db)
        let difference = try SchemaDifference(of: model, in: db)
        let plan = SchemaPlan(difference)
        guard plan.obstacles.isEmpty else { throw plan.refusal }
        for step in difference.steps where step.isLossless { try SchemaChange.make(step, in: db) }
        try finish(difference.tables, in: db)
    }

    /// Creates the indexes and views, and records the model.
    static func finish(_ tables: [SchemaBuilder.Table], in db: Database) throws {
        for index in tables.flatMap(\.indexes) { try db.execute(sql: index) }
        try LiveViews.make(of: tables, in: db)
        try ManagedTables.save(tables, in: db)
        // Fields unknown so far may be in the model now; they are noted again.
        try db.execute(sql: "DROP TABLE IF EXISTS bmo_unknown_fields")
        try db.execute(
            sql: "INSERT OR REPLACE INTO bmo_meta (name, value) VALUES ('schema', ?)", arguments: [text(of: tables)])
    }

    /// Returns whether the bookkeeping tables are those of this version.
    ///
    /// - Throws: ``StoreError`` if they are those of a newer version.
    static func hasBookkeeping(in db: Database) throws -> Bool { try bookkeeping(in: db) == migrations.count }

    /// Returns the number of bookkeeping migrations applied to the file; 0 for one that has none.
    private static func bookkeeping(in db: Database) throws -> Int {
        let version = try String.fetchOne(db, sql: "SELECT value FROM bmo_meta WHERE name = 'version'")
        var known = version.flatMap { Int($0) }
        // A new file has neither a version nor a table of it.
        if version == nil, try !db.tableExists("bmo_runs") { known = 0 }
        guard let done = known, done >= 0 else {
            throw StoreError(
                .schema, "the table bmo_meta, in which bmo keeps its own state, does not say its version",
                remedy: lossRemedy)
        }
        guard done <= migrations.count else {
            throw StoreError(
                .schema,
                "the database was written by a newer bmo (bookkeeping \(done), this bmo knows \(migrations.count))",
                remedy: "use that bmo, or another file")
        }
        return done
    }

    /// Updates the bookkeeping tables to this version.
    static func migrate(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE IF NOT EXISTS bmo_meta (name TEXT PRIMARY KEY NOT NULL, value TEXT) STRICT")
        let done = try bookkeeping(in: db)
        guard done < migrations.count else { return }
        for migration in migrations[done...] { try db.execute(sql: migration.sql) }
        try db.execute(
            sql: "INSERT OR REPLACE INTO bmo_meta (name, value) VALUES ('version', ?)",
            arguments: [String(migrations.count)])
    }
}
