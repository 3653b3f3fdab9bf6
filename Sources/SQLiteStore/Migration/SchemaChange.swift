internal import StoreContract
internal import GRDB
internal import Mapping
internal import Model
internal import StoreRules

/// The lossless changes: added and renamed tables and columns, with updated references to their names.
enum SchemaChange {
    static func make(_ step: SchemaStep, in db: Database) throws {
        let quoted = SchemaBuilder.quoted
        switch step {
        case .renameTable(let old, let new):
            try dropIndexes(of: old, in: db)
            try db.execute(sql: "ALTER TABLE \(quoted(old)) RENAME TO \(quoted(new))")
            // All bookkeeping of rows and scans uses the entity's name.
            let columns = try Row.fetchAll(
                db,
                sql: """
                    SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
                    WHERE t.type = 'table' AND t.name GLOB 'bmo_*' AND c.name IN ('entity', 'walk', 'root')
                    """)
            for row in columns {
                try db.execute(
                    sql: "UPDATE OR IGNORE \(quoted(row["table"])) SET \(row["column"] as String) = ?1 "
                        + "WHERE \(row["column"] as String) = ?2", arguments: [new, old])
            }
        case .renameColumn(let table, let old, let new):
            try dropIndexes(of: table, in: db)
            try db.execute(
                sql: "ALTER TABLE \(quoted(table)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
            try db.execute(
                sql: """
                    UPDATE OR IGNORE bmo_sources SET columns = trim(replace(' ' || columns || ' ', ?, ?)) WHERE entity = ?
                    """, arguments: [" \(old) ", " \(new) ", table])
            try renameColumn(of: table, from: old, to: new, in: db)
        case .renameList(let table, let old, let new):
            try renameInEdits(of: table, from: old, to: new, isList: true, in: db)
            // Where the history has the new name already, that is of a list that was dropped.
            try retireList(new, of: table, in: db)
            try renameRecordedList(of: table, from: old, to: new, in: db)
        case .renameKind(let table, let old, let new):
            for name in ["bmo_outbox", "bmo_conflicts"] {
                try db.execute(
                    sql: "UPDATE \(name) SET entity = ? WHERE entity = ? AND root = ?", arguments: [new, old, table])
            }
            try db.execute(
                sql: "UPDATE \(quoted(table)) SET \(quoted(Entity.discriminatorColumn)) = ? "
                    + "WHERE \(quoted(Entity.discriminatorColumn)) = ?", arguments: [new, old])
        case .addTable(let table): try db.execute(sql: table.sql)
        case .addColumn(let table, let column):
            // SQLite cannot add a composite reference to a table; the importer itself keeps these consistent.
            let reference = column.target.map {
                " REFERENCES \(quoted($0.table)) (\(quoted($0.column))) DEFERRABLE INITIALLY DEFERRED"
            }
            try db.execute(
                sql: "ALTER TABLE \(quoted(table)) ADD COLUMN \(quoted(column.name)) "
                    + "\(column.type)\(column.constraints)\(reference ?? "")")
        case .convert, .changeKey, .changeReference, .dropColumn, .dropTable: break
        }
    }

    /// Renames a column in the history and in the edits, which undo and pushes read.
    private static func renameColumn(of table: String, from old: String, to new: String, in db: Database) throws {
        for side in ["old", "new"] {
            // A change of a list is an object of another kind, with members of its own.
            try renameMember(
                of: "bmo_changes", side, where: "entity = ?3 AND change <> 'relinked'", [old, new, table], in: db)
        }
        try renameInEdits(of: table, from: old, to: new, isList: false, in: db)
    }

    /// Renames a column or a list in the edits, which have lists as arrays of keys.
    private static func renameInEdits(
        of table: String, from old: String, to new: String, isList: Bool, in db: Database
    ) throws {
        for side in ["changes", "base"] {
            try renameMember(
                of: "bmo_outbox", side, where: "root = ?3 AND (json_type(\(side), ?1) = 'array') = \(isList ? 1 : 0)",
                [old, new, table], in: db)
        }
        try db.execute(
            sql: "UPDATE bmo_conflicts SET \"column\" = ? WHERE \"column\" = ? AND root = ?",
            arguments: [new, old, table])
    }

    /// Renames a member of the JSON objects in a column of the bookkeeping.
    ///
    /// - Parameter names: The old name, the new one, and the table, which the condition calls `?3`.
    private static func renameMember(
        of bookkeeping: String, _ column: String, where condition: String, _ names: [String], in db: Database
    ) throws {
        try db.execute(
            sql: """
                UPDATE \(bookkeeping) SET \(column) = json_set(json_remove(\(column), ?1), ?2, json(\(column) -> ?1))
                WHERE \(condition) AND json_type(\(column), ?1) IS NOT NULL
                """, arguments: ["$.\(names[0])", "$.\(names[1])", names[2]])
    }

    /// Marks a dropped list in the history as `NAME (dropped)`, or with a number if an earlier one of its name has that.
    static func retireList(_ name: String, of table: String, in db: Database) throws {
        let retired = try RenameMap.retired(name) { try isRecorded(list: $0, of: table, in: db) }
        try renameRecordedList(of: table, from: name, to: retired, in: db)
    }

    private static func isRecorded(list name: String, of table: String, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM bmo_changes WHERE entity = ?1 AND change = 'relinked'
                    AND ?2 IN (json_extract(old, '$.relationship'), json_extract(new, '$.relationship')))
                """, arguments: [table, name]) ?? false
    }

    /// Renames a list in the history, whose changes name it: LinkDelta.
    private static func renameRecordedList(of table: String, from old: String, to new: String, in db: Database) throws {
        for side in ["old", "new"] {
            try db.execute(
                sql: """
                    UPDATE bmo_changes SET \(side) = json_set(\(side), '$.relationship', ?1)
                    WHERE entity = ?2 AND change = 'relinked' AND json_extract(\(side), '$.relationship') = ?3
                    """, arguments: [new, table, old])
        }
    }

    /// Drops the indexes that bmo created, whose names contain the old name.
    private static func dropIndexes(of table: String, in db: Database) throws {
        let indexes = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'index' AND tbl_name = ?1 AND name GLOB ?1 || '_by_*' AND sql IS NOT NULL
                """, arguments: [table])
        for index in indexes { try db.execute(sql: "DROP INDEX \(SchemaBuilder.quoted(index))") }
    }
}

extension SchemaPlan {
    init(_ difference: SchemaDifference) { self.init(difference.steps) }

    init(_ steps: [SchemaStep]) {
        self.init(steps: steps.map { $0.step() })
    }
}
