/// A copy of a schema with all tables, rows and references, in the connection's open transaction.
enum SchemaBackup {
    static func copy(_ schema: String, to backup: String, over connection: Connection) throws {
        let (from, to) = (Identifier.quoted(schema), Identifier.quoted(backup))
        try connection.run("CREATE SCHEMA \(to)", for: "making a backup")
        // A column that another program has the server generate is generated in the copy, too.
        let tables = try connection.query(
            """
            SELECT c.relname::text, (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
                FROM pg_attribute a
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p') AND c.relname <> '\(Bookkeeping.sharedLogins)'
            ORDER BY c.relname
            """, [.text(schema)], for: "making a backup")
        for row in 0..<tables.count {
            let table = Identifier.quoted(tables.text(row, 0) ?? "")
            try connection.run(
                "CREATE TABLE \(to).\(table) (LIKE \(from).\(table) INCLUDING ALL)", for: "making a backup")
            guard let columns = tables.text(row, 1) else { continue }
            try connection.run(
                """
                INSERT INTO \(to).\(table) (\(columns)) OVERRIDING SYSTEM VALUE SELECT \(columns) FROM \(from).\(table)
                """, for: "making a backup")
        }
        try copyReferences(from, to, schema, connection)
    }

    /// Copies the references: their definitions are read with one schema in the search path, which leaves out its name,
    /// and run with the other.
    private static func copyReferences(
        _ from: String, _ to: String, _ schema: String, _ connection: Connection
    ) throws {
        try connection.run("SET LOCAL search_path = \(from), pg_catalog", for: "making a backup")
        let references = try connection.query(
            """
            SELECT c.relname::text, o.conname::text, pg_get_constraintdef(o.oid) FROM pg_constraint o
            JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text AND o.contype = 'f'
            """, [.text(schema)], for: "making a backup")
        try connection.run("SET LOCAL search_path = \(to), pg_catalog", for: "making a backup")
        for row in 0..<references.count {
            let table = Identifier.quoted(references.text(row, 0) ?? "")
            let name = Identifier.quoted(references.text(row, 1) ?? "")
            try connection.run(
                "ALTER TABLE \(to).\(table) ADD CONSTRAINT \(name) \(references.text(row, 2) ?? "")",
                for: "making a backup")
        }
        try connection.run("SET LOCAL search_path = pg_catalog, pg_temp", for: "making a backup")
    }
}
