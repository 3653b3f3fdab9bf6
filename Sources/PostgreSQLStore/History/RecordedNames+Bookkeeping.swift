internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The names in the bookkeeping besides the history.
extension RecordedNames {
    // MARK: - Entities

    /// A column of the bookkeeping that has names of entities.
    private struct EntityColumn {
        var table: String
        var name: String
        /// The other columns of the primary key; nil if the column is not part of it.
        var restOfKey: [String]?
    }

    /// Renames an entity, which has a table or is a sub-entity, in the open transaction.
    ///
    /// - Parameter root: The table of a sub-entity. Edits of objects in other tables keep the name, and if an unused
    ///   table has it, so does all bookkeeping but the edits.
    func rename(entity old: String, to new: String, subentityOf root: String? = nil) throws {
        let action = "renaming \(old)"
        let columns = try entityColumns()
        let tablesOfRoots = Set(columns.filter { $0.name == "root" }.map(\.table))
        let isShared = try root != nil && hasTable(old)
        for column in columns {
            let hasRoot = tablesOfRoots.contains(column.table)
            if root != nil && column.name == "root" || isShared && !hasRoot { continue }
            let table = own(column.table)
            var names: [SQLParameter] = [.text(old), .text(new)]
            var condition = ""
            if let root, hasRoot {
                names.append(.text(root))
                condition = " AND o.root = $3::text"
            }
            if let rest = column.restOfKey {
                // An entity that was dropped may have left rows under the new name.
                let isSame = rest.map { " AND o.\($0) = n.\($0)" }.joined()
                try connection.query(
                    """
                    DELETE FROM \(table) n WHERE n.\(column.name) = $2::text AND EXISTS (
                        SELECT 1 FROM \(table) o WHERE o.\(column.name) = $1::text\(isSame)\(condition))
                    """, names, for: action)
            }
            try connection.query(
                "UPDATE \(table) o SET \(column.name) = $2::text WHERE o.\(column.name) = $1::text\(condition)", names,
                for: action)
        }
        if isShared {
            try forgetPositions()
            return
        }
        let separator = "E'\\x01'"
        try connection.query(
            """
            UPDATE \(own("bmo_round")) SET loading = array_to_string(
                array_replace(string_to_array(loading, \(separator)), $1::text, $2::text), \(separator))
            """, [.text(old), .text(new)], for: action)
        try forgetPositions()
    }

    private func entityColumns() throws -> [EntityColumn] {
        let found = try connection.query(
            """
            SELECT c.relname::text, a.attname::text, a.attnum = ANY(k.conkey),
                (SELECT string_agg(r.attname::text, ' ') FROM pg_attribute r
                    WHERE r.attrelid = c.oid AND r.attnum = ANY(k.conkey) AND r.attnum <> a.attnum)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
            WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p') AND c.relname LIKE 'bmo\\_%'
                AND a.attname::text = ANY($2::text[]) AND c.relname::text <> ALL($3::text[])
            ORDER BY 1, 2
            """, [.text(schema), .texts(NameColumns.entities), .texts(NameColumns.tablesOfRounds)],
            for: "reading the bookkeeping")
        return (0..<found.count).map { row in
            let rest = (found.text(row, 3) ?? "").split(separator: " ").map(String.init)
            return EntityColumn(
                table: found.text(row, 0) ?? "", name: found.text(row, 1) ?? "",
                restOfKey: found.boolean(row, 2) ? rest : nil)
        }
    }

    /// Returns whether the bookkeeping has the name of a sub-entity, which need not have rows.
    func has(kind name: String) throws -> Bool {
        let places = NameColumns.namingKinds.map { "EXISTS (SELECT 1 FROM \(own($0)) WHERE entity = $1::text)" }
        return try connection.query(
            "SELECT \(places.joined(separator: " OR "))", [.text(name)], for: "looking for \(name) in the bookkeeping"
        ).boolean(0, 0)
    }

    /// Returns whether the schema has a table of bmo with this name.
    private func hasTable(_ name: String) throws -> Bool {
        let isMade = try connection.query(
            "SELECT EXISTS (SELECT 1 FROM \(own("bmo_columns")) WHERE table_name = $1::text)", [.text(name)],
            for: "looking for the table \(name)"
        ).boolean(0, 0)
        return try isMade && !present([name]).isEmpty
    }

    /// Returns the sub-entities of a table that is to be dropped: those of its rows, and those that the bookkeeping has for
    /// it and `names` lacks, which are the entities of the new model.
    func kinds(of table: String, besides names: [String]) throws -> [String] {
        let action = "reading the sub-entities of \(table)"
        let places = NameColumns.kindsOfTables + [(table: "bmo_source_scans", root: "entity", kind: "scan")]
        let tables = try present(places.map(\.table))
        var kinds: Set<String> = []
        for (name, root, kind) in places where tables.contains(name) {
            let found = try connection.query(
                "SELECT DISTINCT \(kind) FROM \(own(name)) WHERE \(root) = $1::text", [.text(table)], for: action)
            kinds.formUnion((0..<found.count).compactMap { found.text($0, 0) })
        }
        kinds.subtract(names)
        let hasKinds = try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM pg_attribute
                WHERE attrelid = to_regclass($1::text) AND attname = $2::text AND NOT attisdropped)
            """, [.text(own(Identifier.quoted(table))), .text(Entity.discriminatorColumn)], for: action
        ).boolean(0, 0)
        if hasKinds {
            // Another attribute may have the column's name, and as many values as the table has rows.
            for name in try present(NameColumns.describingRows) {
                let found = try connection.query(
                    """
                    SELECT DISTINCT b.entity FROM \(own(name)) b
                    WHERE b.entity IN (SELECT t.entity::text FROM \(own(Identifier.quoted(table))) t)
                    """, for: action)
                kinds.formUnion((0..<found.count).compactMap { found.text($0, 0) })
            }
        }
        let others = try present(kinds.sorted())
        return kinds.filter { $0 != table && !others.contains($0) }.sorted()
    }

    /// Forgets the state of a dropped table's rows and scans, or of one of its sub-entities, in the open transaction.
    func forget(entity name: String) throws {
        for table in try present(NameColumns.describingRows) {
            try connection.query(
                "DELETE FROM \(own(table)) WHERE entity = $1::text", [.text(name)], for: "forgetting \(name)")
        }
    }

    func forgetPositions() throws {
        for table in try present(NameColumns.positions) {
            try connection.run("DELETE FROM \(own(table))", for: "forgetting unfinished scans")
        }
    }

    /// Returns those of the tables that this kind of store has.
    private func present(_ tables: [String]) throws -> [String] {
        let found = try connection.query(
            """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p') AND c.relname::text = ANY($2::text[]) ORDER BY 1
            """, [.text(schema), .texts(tables)], for: "reading the bookkeeping")
        return (0..<found.count).compactMap { found.text($0, 0) }
    }

    // MARK: - Columns and lists

    /// Renames a column or list of a table's objects in the edits and conflicts.
    func renameInEdits(_ old: String, to new: String, in table: String, _ kind: Kind) throws {
        let action = "renaming \(table).\(old) in the edits"
        for edits in NameColumns.edits {
            let found = try connection.query(
                "SELECT id, \(NameColumns.editContents.joined(separator: ", ")) FROM \(own(edits)) WHERE root = $1::text",
                [.text(table)], for: action)
            for row in 0..<found.count {
                for (index, column) in NameColumns.editContents.enumerated() {
                    guard let content = found.text(row, index + 1),
                        let renamed = try EditContent.renaming(old, to: new, isList: kind == .list, in: content)
                    else { continue }
                    try connection.query(
                        "UPDATE \(own(edits)) SET \(column) = $2::text WHERE id = $1::bigint",
                        [.bigint(found.bigint(row, 0) ?? 0), .text(renamed)], for: action)
                }
            }
        }
        let names: [SQLParameter] = [.text(table), .text(old), .text(new)]
        let conflicts = own("bmo_conflicts")
        try connection.query(
            """
            DELETE FROM \(conflicts) n WHERE n.root = $1::text AND n.attribute = $3::text AND EXISTS (
                SELECT 1 FROM \(conflicts) o WHERE o.root = n.root AND o.key = n.key AND o.attribute = $2::text)
            """, names, for: action)
        try connection.query(
            "UPDATE \(conflicts) SET attribute = $3::text WHERE root = $1::text AND attribute = $2::text", names,
            for: action)
    }

    /// Renames a column in what the sources of a table's rows wrote.
    func renameInSources(_ old: String, to new: String, in table: String) throws {
        let action = "renaming \(table).\(old) in the sources"
        // Many rows have the same few columns.
        let found = try connection.query(
            """
            SELECT DISTINCT columns FROM \(own("bmo_sources"))
            WHERE entity = $1::text AND position($2::text in columns) > 0
            """, [.text(table), .text("\"\(old)\"")], for: action)
        for row in 0..<found.count {
            let text = found.text(row, 0) ?? "[]"
            let columns = Set((JSONText.parts(of: text) ?? []).map { $0.description == old ? new : $0.description })
            let renamed = JSONText.key(columns.sorted().map { StoredValue.text($0) }).string
            try connection.query(
                """
                UPDATE \(own("bmo_sources")) SET columns = $3::text WHERE entity = $1::text AND columns = $2::text
                """, [.text(table), .text(text), .text(renamed)], for: action)
        }
    }
}
