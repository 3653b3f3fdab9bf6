internal import GRDB
internal import Model
internal import StoreRules

/// The names of entities, columns and lists in a file's bookkeeping, which follow a rename.
struct BookkeepingNames {
    private let db: Database

    init(in db: Database) { self.db = db }

    // MARK: - Entities

    /// Renames an entity, which has a table or is a sub-entity.
    ///
    /// - Parameter root: The table of a sub-entity. Edits of objects in other tables keep the name, and if an unused
    ///   table has it, so does all bookkeeping but the edits.
    func rename(entity old: String, to new: String, subentityOf root: String? = nil) throws {
        let columns = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
                WHERE t.type = 'table' AND t.name GLOB 'bmo_*'
                """
        ).filter { NameColumns.entities.contains($0["column"]) && !NameColumns.tablesOfRounds.contains($0["table"]) }
        let tablesOfRoots = Set(columns.filter { $0["column"] == "root" }.map { $0["table"] as String })
        let isShared = try root != nil && hasTable(old)
        for row in columns {
            let table: String = row["table"]
            let hasRoot = tablesOfRoots.contains(table)
            if root != nil && row["column"] == "root" || isShared && !hasRoot { continue }
            // An entity that was dropped may have left rows under the new name. A source stays: other rows refer to it.
            let collision = table == "bmo_sources" ? "IGNORE" : "REPLACE"
            try db.execute(
                sql: "UPDATE OR \(collision) \(SchemaBuilder.quoted(table)) SET \(row["column"] as String) = ?1 "
                    + "WHERE \(row["column"] as String) = ?2" + (hasRoot && root != nil ? " AND root = ?3" : ""),
                arguments: hasRoot && root != nil ? [new, old, root] : [new, old])
        }
        if !isShared {
            try db.execute(
                sql: "UPDATE OR REPLACE bmo_meta SET name = 'origin ' || ?1 WHERE name = 'origin ' || ?2",
                arguments: [new, old])
        }
        try forgetPositions()
    }

    /// Returns whether the bookkeeping has the name of a sub-entity, which need not have rows.
    func has(kind name: String) throws -> Bool {
        // Also a file of an earlier bmo, which lacks some of these tables, is asked.
        try present(NameColumns.namingKinds).contains { table in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE entity = ?)", arguments: [name]) == true
        }
    }

    /// Returns whether the file has a table of bmo with this name.
    private func hasTable(_ name: String) throws -> Bool {
        try ManagedTables(in: db).has(name) && db.tableExists(name)
    }

    /// Returns the sub-entities of a table that is to be dropped: those of its rows, and those that the bookkeeping has for
    /// it and `names` lacks, which are the entities of the new model.
    func kinds(of table: String, besides names: [String]) throws -> [String] {
        let places = NameColumns.kindsOfTables + [(table: "bmo_sources", root: "entity", kind: "walk")]
        let tables = try present(places.map(\.table))
        var kinds: Set<String> = []
        for (name, root, kind) in places where tables.contains(name) {
            kinds.formUnion(
                try String.fetchAll(
                    db, sql: "SELECT DISTINCT \(kind) FROM \(name) WHERE \(root) = ?", arguments: [table]))
        }
        kinds.subtract(names)
        if try db.columns(in: table).contains(where: { $0.name == Entity.discriminatorColumn }) {
            // Another attribute may have the column's name, and as many values as the table has rows.
            for name in try present(NameColumns.describingRows) {
                kinds.formUnion(
                    try String.fetchAll(
                        db,
                        sql: """
                            SELECT DISTINCT entity FROM \(name)
                            WHERE entity IN (SELECT CAST(entity AS TEXT) FROM \(SchemaBuilder.quoted(table)))
                            """))
            }
        }
        return try kinds.filter { try $0 != table && !db.tableExists($0) }.sorted()
    }

    /// Forgets the state of a dropped table's rows and scans, or of one of its sub-entities.
    func forget(entity name: String) throws {
        for table in try present(NameColumns.describingRows) {
            try db.execute(sql: "DELETE FROM \(table) WHERE entity = ?", arguments: [name])
        }
        try db.execute(sql: "DELETE FROM bmo_meta WHERE name = 'origin ' || ?", arguments: [name])
    }

    /// Returns those of the tables that the file has; some are made when they are needed.
    private func present(_ tables: [String]) throws -> [String] {
        let all = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
        return tables.filter(all.contains)
    }

    private func forgetPositions() throws {
        for table in NameColumns.positions { try db.execute(sql: "DELETE FROM \(table)") }
    }

    // MARK: - Columns and lists

    /// Renames a column of a table in the history, which undo reads, in the edits and in the sources.
    func rename(column old: String, to new: String, of table: String) throws {
        try db.execute(
            sql: """
                UPDATE OR IGNORE bmo_sources SET columns = trim(replace(' ' || columns || ' ', ?, ?)) WHERE entity = ?
                """, arguments: [" \(old) ", " \(new) ", table])
        for side in ["old", "new"] {
            // A change of a list is an object of another kind, with members of its own.
            try db.execute(
                sql: """
                    UPDATE bmo_changes SET \(side) = json_set(json_remove(\(side), ?1), ?2, json(\(side) -> ?1))
                    WHERE entity = ?3 AND change <> 'relinked' AND json_type(\(side), ?1) IS NOT NULL
                    """, arguments: ["$.\(old)", "$.\(new)", table])
        }
        try renameInEdits(of: table, from: old, to: new, isList: false)
    }

    /// Renames a relationship to many of a table's objects in the history and in the edits.
    func rename(list old: String, to new: String, of table: String) throws {
        try renameInEdits(of: table, from: old, to: new, isList: true)
        // Where the history has the new name already, that is of a list that was dropped.
        try retire(list: new, of: table)
        try renameRecorded(list: old, to: new, of: table)
        try forgetPositions()
    }

    private func renameInEdits(of table: String, from old: String, to new: String, isList: Bool) throws {
        for edits in NameColumns.edits {
            for column in NameColumns.editContents {
                let found = try Row.fetchAll(
                    db, sql: "SELECT id, \(column) FROM \(edits) WHERE root = ? AND \(column) IS NOT NULL",
                    arguments: [table])
                for row in found {
                    let renamed = try EditContent.renaming(old, to: new, isList: isList, in: row[column])
                    guard let renamed else { continue }
                    try db.execute(
                        sql: "UPDATE \(edits) SET \(column) = ? WHERE id = ?", arguments: [renamed, row["id"] as Int64])
                }
            }
        }
        try db.execute(
            sql: "UPDATE OR REPLACE bmo_conflicts SET \"column\" = ? WHERE \"column\" = ? AND root = ?",
            arguments: [new, old, table])
    }

    /// Marks a dropped list in the history as `NAME (dropped)`, or with a number if an earlier one of its name has that.
    func retire(list name: String, of table: String) throws {
        let retired = try RenameMap.retired(name) { try isRecorded(list: $0, of: table) }
        try renameRecorded(list: name, to: retired, of: table)
    }

    /// Deletes the recorded changes of a table's rows, or only those of one list.
    ///
    /// - Returns: The number of changes, and the runs that made them.
    func forgetChanges(of table: String, list: String?) throws -> (count: Int, runs: [Int64]) {
        var condition = "entity = ?"
        var arguments: StatementArguments = [table]
        if let list {
            let name = "IN (json_extract(old, '$.relationship'), json_extract(new, '$.relationship'))"
            condition += " AND change = 'relinked' AND ? \(name)"
            arguments += [list]
        }
        let runs = try Int64.fetchAll(
            db, sql: "SELECT DISTINCT run FROM bmo_changes WHERE \(condition)", arguments: arguments)
        try db.execute(sql: "DELETE FROM bmo_changes WHERE \(condition)", arguments: arguments)
        return (db.changesCount, runs)
    }

    private func isRecorded(list name: String, of table: String) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM bmo_changes WHERE entity = ?1 AND change = 'relinked'
                    AND ?2 IN (json_extract(old, '$.relationship'), json_extract(new, '$.relationship')))
                """, arguments: [table, name]) ?? false
    }

    /// Renames a list in the history, whose changes name it: LinkDelta.
    private func renameRecorded(list old: String, to new: String, of table: String) throws {
        for side in ["old", "new"] {
            try db.execute(
                sql: """
                    UPDATE bmo_changes SET \(side) = json_set(\(side), '$.relationship', ?1)
                    WHERE entity = ?2 AND change = 'relinked' AND json_extract(\(side), '$.relationship') = ?3
                    """, arguments: [new, table, old])
        }
    }
}
