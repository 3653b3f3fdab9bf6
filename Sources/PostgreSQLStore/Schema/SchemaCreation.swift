extension Connection {
    /// Creates a schema in the open transaction unless it exists, and has Citus keep it as the layout says.
    ///
    /// `CREATE SCHEMA IF NOT EXISTS` would need the right to create schemas also where there is nothing to create.
    func createSchema(_ schema: String) throws {
        let action = "creating the schema"
        let exists = try query(
            "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1::text)", [.text(schema)],
            for: "reading the schemas"
        ).boolean(0, 0)
        let isOnOneNode = engine.name == .citusSchema && engine.hasCitus
        if !exists {
            if isOnOneNode { try run("SET LOCAL citus.enable_schema_based_sharding = on", for: action) }
            try run("CREATE SCHEMA \(Identifier.quoted(schema))", for: action)
        } else if isOnOneNode {
            // The function fails for a schema that is on one node already.
            try query(
                """
                SELECT citus_schema_distribute(n.oid::regnamespace)::text FROM pg_namespace n
                WHERE n.nspname = $1::text AND NOT EXISTS (SELECT 1 FROM pg_dist_schema s WHERE s.schemaid = n.oid)
                """, [.text(schema)], for: action)
        }
    }
}
