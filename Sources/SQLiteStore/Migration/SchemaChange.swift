internal import StoreContract
internal import GRDB
internal import Mapping
internal import Model

/// The lossless changes: added and renamed tables and columns, with updated references to their names.
enum SchemaChange {
    static func make(_ step: SchemaStep, in db: Database) throws {
        let quoted = SchemaBuilder.quoted
        switch step {
        case .renameTable(let old, let new):
            try dropIndexes(of: old, in: db)
            try rename("ALTER TABLE \(quoted(old)) RENAME TO \(quoted(new))", in: db)
            try BookkeepingNames(in: db).rename(entity: old, to: new)
        case .renameColumn(let table, let old, let new):
            try dropIndexes(of: table, in: db)
            try rename("ALTER TABLE \(quoted(table)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))", in: db)
            try BookkeepingNames(in: db).rename(column: old, to: new, of: table)
        case .renameList(let table, let old, let new):
            try BookkeepingNames(in: db).rename(list: old, to: new, of: table)
        case .renameKind(let table, let old, let new):
            try BookkeepingNames(in: db).rename(entity: old, to: new, subentityOf: table)
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

    /// Renames a table or column, for which SQLite reads all views and triggers of the file.
    private static func rename(_ sql: String, in db: Database) throws {
        do {
            try db.execute(sql: sql)
        } catch let error as DatabaseError where error.message?.hasPrefix("error in ") == true {
            throw StoreError(
                .schema, "SQLite renames nothing in a file with an invalid view or trigger: \(error.message ?? "")",
                remedy: "correct or drop it with an SQLite client, and try again")
        }
    }

    /// Drops the indexes that bmo created, whose names contain the old name.
    private static func dropIndexes(of table: String, in db: Database) throws {
        for index in try indexes(of: table, in: db) {
            try db.execute(sql: "DROP INDEX \(SchemaBuilder.quoted(index))")
        }
    }

    /// Returns the indexes of a table that bmo created: with the text of ``SchemaBuilder``, over columns that refer to
    /// another table.
    static func indexes(of table: String, in db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT s.name FROM sqlite_schema AS s
                WHERE s.type = 'index' AND s.tbl_name = ?1 AND s.name GLOB ?1 || '_by_*'
                    AND s.sql = 'CREATE INDEX "' || s.name || '" ON "' || ?1 || '" ('
                        || (SELECT group_concat('"' || i.name || '"', ', ') FROM pragma_index_info(s.name) AS i) || ')'
                    AND NOT EXISTS (
                        SELECT 1 FROM pragma_index_info(s.name) AS i
                        WHERE i.name NOT IN (SELECT "from" FROM pragma_foreign_key_list(?1)))
                """, arguments: [table])
    }
}

extension SchemaPlan {
    init(_ difference: SchemaDifference) { self.init(difference.steps) }

    init(_ steps: [SchemaStep]) {
        self.init(steps: steps.map { $0.step() })
    }
}
