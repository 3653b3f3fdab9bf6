internal import StoreContract

/// Which engine a server is.
extension EngineProfile {
    /// The oldest version of PostgreSQL with all that the statements use; YugabyteDB says which one it stands for.
    private static let oldestVersion: Int32 = 140_000

    /// Asks a server which engine it is.
    ///
    /// - Throws: `StoreError` of the code `open` if it is one that bmo does not know, or too old.
    init(detectedBy connection: Connection) throws {
        let location = connection.location
        let words = try connection.query(
            "SELECT version(), coalesce((SELECT extversion FROM pg_extension WHERE extname = 'citus'), '')",
            for: "asking for the version")
        let version = words.text(0, 0) ?? ""
        for engine in ["Redshift", "Greenplum", "Materialize", "RisingWave"] where version.contains(engine) {
            throw StoreError(
                .open, "\(connection.place): the server is \(version.prefix(60)), which is not supported",
                remedy: "use PostgreSQL 14 or later, Citus, CockroachDB or YugabyteDB")
        }
        let hasCitus = words.text(0, 1) != ""
        var found = Name.postgresql
        if version.contains("CockroachDB") {
            found = .cockroachdb
        } else if version.contains("YugabyteDB") || version.contains("-YB-") {
            found = .yugabytedb
        } else if hasCitus {
            found = try Self.layout(of: connection)
        }
        // CockroachDB says the version 13 for the sake of drivers.
        guard found == .cockroachdb || connection.serverVersion >= Self.oldestVersion else {
            throw StoreError(
                .open, "\(connection.place): the server has version \(connection.serverVersion / 10_000)",
                remedy: "use PostgreSQL 14 or later")
        }
        self.init(location.engine ?? found)
        self.hasCitus = hasCitus
    }

    /// Returns how Citus has a database, or gets one that does not exist.
    ///
    /// A schema without the bookkeeping does not count: an administrator has made it, or it has the shared logins only.
    private static func layout(of connection: Connection) throws -> Name {
        let location = connection.location
        let found = try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = $1::text AND c.relname = 'bmo_database'), EXISTS (
                SELECT 1 FROM pg_dist_schema s JOIN pg_namespace n ON n.oid = s.schemaid WHERE n.nspname = $1), EXISTS (
                SELECT 1 FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
                JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)
            """, [.text(location.schema)], for: "asking for the layout of the schema")
        let (exists, isSharded, isDistributed) = (found.boolean(0, 0), found.boolean(0, 1), found.boolean(0, 2))
        let present: Name? =
            isSharded ? .citusSchema : isDistributed ? .citusDistributed : exists ? .postgresql : nil
        guard let wanted = location.layout else { return present ?? .citusSchema }
        guard present == nil || present == wanted || location.engine != nil else {
            throw StoreError(
                .open, "\(connection.place): the database exists with another layout",
                remedy: "leave `layout` out, or add schema=NAME to the address and sync into a new schema")
        }
        return wanted
    }
}
