extension Connection {
    /// Creates a schema in the open transaction, unless it exists.
    ///
    /// `CREATE SCHEMA IF NOT EXISTS` would need the right to create schemas also where there is nothing to create.
    func createSchema(_ schema: String) throws {
        let exists = try query(
            "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1::text)", [.text(schema)],
            for: "reading the schemas"
        ).boolean(0, 0)
        guard !exists else { return }
        if engine.name == .citusSchema, engine.hasCitus {
            try run("SET LOCAL citus.enable_schema_based_sharding = on", for: "creating the schema")
        }
        try run("CREATE SCHEMA \(Identifier.quoted(schema))", for: "creating the schema")
    }
}
