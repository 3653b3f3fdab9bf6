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
            try db.execute(sql: "ALTER TABLE \(quoted(old)) RENAME TO \(quoted(new))")
            try BookkeepingNames(in: db).rename(entity: old, to: new)
        case .renameColumn(let table, let old, let new):
            try dropIndexes(of: table, in: db)
            try db.execute(
                sql: "ALTER TABLE \(quoted(table)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
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
