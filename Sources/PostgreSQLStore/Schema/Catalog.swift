internal import StoreContract

/// The tables that a schema has, from the server's catalog.
struct Catalog {
    /// A table.
    struct Table {
        var columns: [(name: String, type: String, isRequired: Bool)] = []
        var key: [String] = []
        /// The references to tables of the same schema.
        var references: [TableDefinition.Reference: Constraint] = [:]
        /// Whether its rows are links: those of an entity have one number as their key, or a number apart.
        var hasLinks: Bool { key.count > 1 && column(RowTableSQL.numberColumn) == nil }

        func column(_ name: String) -> String? { columns.first { $0.name == name }?.type }

        /// Returns the columns of a reference that can be null and are not in use.
        func clearable(_ reference: TableDefinition.Reference, besides used: Set<String>) -> [String] {
            reference.columns.filter { name in
                !used.contains(name) && !columns.contains { $0.name == name && $0.isRequired }
            }
        }
    }

    /// The constraint of a reference.
    struct Constraint {
        var name: String
        /// Whether the server checks it when a transaction is committed.
        var isDeferred: Bool
    }

    var tables: [String: Table] = [:]

    /// Reads the tables of a schema, without those of the bookkeeping; none if the schema does not exist.
    init(_ connection: Connection, schema: String) throws {
        let columns = try connection.query(
            """
            SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p') AND c.relname NOT LIKE 'bmo\\_%'
            ORDER BY c.relname, a.attnum
            """, [.text(schema)], for: "reading the tables")
        for row in 0..<columns.count {
            guard let table = columns.text(row, 0), let name = columns.text(row, 1), let type = columns.text(row, 2)
            else { continue }
            tables[table, default: Table()].columns.append((name, type, columns.boolean(row, 3)))
        }
        let constraints = try connection.query(
            """
            SELECT c.relname::text, o.conname::text, o.contype::text, coalesce(f.relname::text, ''),
                (SELECT string_agg(a.attname::text, E'\\x01' ORDER BY k.n) FROM unnest(o.conkey) WITH ORDINALITY k(c, n)
                    JOIN pg_attribute a ON a.attrelid = o.conrelid AND a.attnum = k.c),
                (SELECT string_agg(a.attname::text, E'\\x01' ORDER BY k.n) FROM unnest(o.confkey) WITH ORDINALITY k(c, n)
                    JOIN pg_attribute a ON a.attrelid = o.confrelid AND a.attnum = k.c), o.condeferred
            FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            LEFT JOIN pg_class f ON f.oid = o.confrelid
            WHERE n.nspname = $1::text AND (o.contype = 'p' OR o.contype = 'f' AND f.relnamespace = c.relnamespace)
            """, [.text(schema)], for: "reading the tables")
        for row in 0..<constraints.count {
            func names(_ column: Int) -> [String] {
                (constraints.text(row, column) ?? "").split(separator: "\u{1}").map(String.init)
            }
            guard let table = constraints.text(row, 0), tables[table] != nil else { continue }
            if constraints.text(row, 2) == "p" {
                tables[table]?.key = names(4)
            } else {
                let reference = TableDefinition.Reference(
                    columns: names(4), target: constraints.text(row, 3) ?? "", targetColumns: names(5))
                let constraint = Constraint(
                    name: constraints.text(row, 1) ?? "", isDeferred: constraints.boolean(row, 6))
                // Another program may have added the same reference.
                if constraint.isDeferred || tables[table]?.references[reference] == nil {
                    tables[table]?.references[reference] = constraint
                }
            }
        }
    }

    /// Returns the number of the form of a schema's bookkeeping; 0 without bookkeeping.
    ///
    /// - Throws: `StoreError` of the code `schema` if a newer bmo created it.
    static func format(_ connection: Connection, schema: String) throws -> Int64 {
        guard try hasBookkeeping(connection, schema: schema) else { return 0 }
        let format = try connection.query(
            "SELECT format FROM \(Identifier.quoted(schema)).bmo_database", for: "reading the form of the database"
        )
        // Without a row, the creation of the tables was interrupted where it is not a transaction.
        guard format.count > 0 || connection.engine.hasTransactionalDDL else { return 0 }
        guard let format = format.bigint(0, 0), format <= Bookkeeping.format else {
            throw StoreError(
                .schema, "\(connection.place): a newer bmo created the database", remedy: "use that version of bmo")
        }
        return format
    }

    /// Returns whether a schema of an engine without locks, or without the memory of transactions, has the tables that
    /// stand for these.
    static func hasLocks(_ connection: Connection, schema: String) throws -> Bool {
        if connection.engine.hasLocks, connection.engine.hasTransactionStatus { return true }
        return try connection.query(
            "SELECT to_regclass($1::text) IS NOT NULL", [.text(Identifier.quoted(schema) + ".bmo_outcomes")],
            for: "looking for the database"
        ).boolean(0, 0)
    }

    /// Returns whether a schema has bmo's bookkeeping.
    static func hasBookkeeping(_ connection: Connection, schema: String) throws -> Bool {
        try connection.query(
            "SELECT to_regclass($1::text) IS NOT NULL", [.text(Identifier.quoted(schema) + ".bmo_database")],
            for: "looking for the database"
        ).boolean(0, 0)
    }
}
