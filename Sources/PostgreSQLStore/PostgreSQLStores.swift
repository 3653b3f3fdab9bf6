public import Mapping
public import StoreContract
internal import StoreRules

/// PostgreSQL databases as stores: the location is a URI that libpq understands, with the option `schema` of bmo's own.
///
/// ```swift
/// let location = "postgresql://importer:{env:PASSWORD}@db.example.com/crm?schema=people"
/// let store = try PostgreSQLStores().open(location, model: model, for: .writing)
/// ```
///
/// All tables are in one schema, `bmo` unless the location says otherwise, which is created if necessary. The server
/// must be PostgreSQL 14 or later.
public struct PostgreSQLStores: StoreProvider {
    /// Creates a provider.
    public init() {}

    /// Returns whether a location is a PostgreSQL database's.
    public static func isLocation(_ location: String) -> Bool { DatabaseLocation.isURI(location) }

    /// Opens a database, whose schema is created or adapted as far as nothing can be lost.
    public func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store {
        let location = try DatabaseLocation(location)
        let connection = try Connection(location)
        let sql = DatabaseSQL(model, for: connection)
        switch use {
        case .writing: try Self.adapt(connection, to: model)
        case .rehearsing:
            try Self.rehearse(connection, sql)
        case .reading(let entities): try Self.check(connection, model, entities)
        }
        return try PostgreSQLStore(connection, sql, for: use)
    }

    /// Returns whether the schema has bmo's tables; true as well if the server cannot be asked, so that opening the
    /// database reports why.
    public func exists(_ location: String) -> Bool {
        do {
            let location = try DatabaseLocation(location)
            return try Catalog.hasBookkeeping(Connection(location), schema: location.schema)
        } catch {
            return true
        }
    }

    /// Checks that the tables were not changed for a later model, so that a worker would add to them what that dropped or
    /// renamed.
    public func checkIsNewest(_ model: CompiledModel, of location: String) throws {
        let location = try DatabaseLocation(location)
        let connection = try Connection(location)
        let schema = location.schema
        guard try Catalog.format(connection, schema: schema) == Bookkeeping.format,
            let since = try AdaptedModels(connection, schema: schema).laterModel(than: model)
        else { return }
        let changes = try SchemaComparison(connection, schema: schema, to: model).changes
        guard let change = changes.first(where: { !$0.isOptional }) else { return }
        throw StoreError(
            .schema,
            "\(connection.place): a later configuration has changed the tables (\(since)), and this one, which has the "
                + "tables of an earlier configuration, would \(change.words)",
            remedy: "give the worker the newer bmo.yml; or stop all workers and run `bmo sync` with this one, to return"
        )
    }

    /// Takes a lock of a database, whose schema need not exist yet, without waiting.
    public func attemptLock(_ location: String, for purpose: LockPurpose, command: String) throws -> LockAttempt {
        try SessionLock.attempt(DatabaseLocation(location), for: purpose, command: command)
    }

    /// Takes the lock to write together with other workers, without waiting.
    public func attemptSharedLock(_ location: String, command: String) throws -> LockAttempt {
        try SessionLock.attempt(DatabaseLocation(location), for: .writing, isShared: true, command: command)
    }

    /// Returns what tries to take a lock over one connection.
    public func lockAttempts(
        _ location: String, for purpose: LockPurpose, isShared: Bool, command: String
    ) -> @Sendable () throws -> LockAttempt {
        let attempts = LockAttempts()
        return {
            try attempts.next(
                DatabaseLocation(location), for: isShared ? .writing : purpose, isShared: isShared, command: command)
        }
    }

    /// Returns the holder of a lock; nil if the lock is free.
    public func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder? {
        try? SessionLock.holder(of: purpose, over: Connection(DatabaseLocation(location)))
    }

    /// Waits for the lock of a text of a schema, which need not exist yet, and takes it.
    public func lockText(_ location: String, name: String) throws -> (any StoredTextLock)? {
        try SecretLock(DatabaseLocation(location), name: name)
    }

    /// Returns the limit of PostgreSQL for the columns of a table.
    public func mostColumns(of location: String) -> Int? { 1600 }

    /// Returns the tables of a model as SQL, in order of creation.
    public func schema(of model: CompiledModel) -> [String] {
        let schema = DatabaseLocation.usualSchema
        let tables = TableDefinition.all(of: model)
        let engine = EngineProfile(.postgresql)
        var names = ReferenceNames()
        let references = tables.flatMap { table in
            table.references.flatMap { table.constraint($0, in: schema, on: engine, besides: &names) }
        }
        return tables.map { $0.creation(in: schema, on: engine) }
            + references
            + tables.flatMap { $0.viewCreation(in: schema) }
    }

    /// Returns what has to change before the database's tables fit a model.
    public func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        let connection = try existing(location)
        return try SchemaMigration(connection, schema: connection.location.schema, to: model).planWithCosts()
    }

    /// Returns the same without the cost, so that no rows are read for it.
    public func schemaPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        let connection = try existing(location)
        return try SchemaMigration(connection, schema: connection.location.schema, to: model).plan
    }

    /// Adapts the database's tables to a model in one transaction, after a copy of the schema.
    ///
    /// - Parameter backup: The location of the copy. A location that begins with the database's own names a schema whose
    ///   name has the rest appended.
    public func migrate(_ location: String, to model: CompiledModel, backup: String) throws -> MigrationResult {
        let started = Clock.now()
        let connection = try existing(location)
        let schema = connection.location.schema
        let backupSchema = try Self.backupSchema(location, schema, backup)
        let sql = DatabaseSQL(model, for: connection)
        try Self.checkTransactionalDDL(connection)
        try connection.run("\(connection.engine.tableChange); \(sql.writerLock)", for: "beginning a migration")
        try SchemaMigration.prepare(connection, schema: schema, for: model)
        var migration = try SchemaMigration(connection, schema: schema, to: model)
        guard !migration.changes.isEmpty else {
            return MigrationResult(plan: SchemaPlan(steps: []), notes: [])
        }
        try migration.check()
        let plan = try migration.planWithCosts()
        try SchemaBackup.copy(schema, to: backupSchema, over: connection)
        let notes = try migration.run(dropsUnused: true)
        try AdaptedModels(connection, schema: schema).note(model)
        try Self.addRun(connection, sql, plan, notes, forgotten: migration.forgottenRuns, started: started)
        try connection.run("COMMIT", for: "committing the migration")
        return MigrationResult(
            plan: plan, backup: Self.location(of: backup, backupSchema, like: connection), notes: notes)
    }

    /// Returns all rows of the tables of entities and links.
    public func contents(of location: String) throws -> [TableContents] {
        let connection = try existing(location)
        return try TableContents.read(connection, schema: connection.location.schema)
    }

    // MARK: - Opening

    private func existing(_ location: String) throws -> Connection {
        let location = try DatabaseLocation(location)
        let connection = try Connection(location)
        guard try Catalog.hasBookkeeping(connection, schema: location.schema) else { throw Self.missing(connection) }
        return connection
    }

    private static func missing(_ connection: Connection) -> StoreError {
        StoreError(.open, "\(connection.place): the schema has no tables of bmo", remedy: "`bmo sync` creates them")
    }

    /// Makes the changes that cannot lose data.
    private static func adapt(_ connection: Connection, to model: CompiledModel) throws {
        let schema = connection.location.schema
        if try Catalog.format(connection, schema: schema) == Bookkeeping.format,
            try Catalog.hasLocks(connection, schema: schema),
            try SchemaComparison(connection, schema: schema, to: model).changes.allSatisfy(\.isOptional)
        {
            return try AdaptedModels(connection, schema: schema).note(model)
        }
        let sql = DatabaseSQL(model, for: connection)
        guard connection.engine.hasTransactionalDDL else {
            // Each statement is a transaction of its own: all of them can be run again after an interruption.
            try SchemaMigration.prepare(connection, schema: schema, for: model)
            return try change(connection, to: model)
        }
        try connection.run(connection.engine.tableChange)
        do {
            try adapt(connection, in: sql)
            try connection.run("COMMIT", for: "changing the tables")
        } catch {
            if connection.isAlive { try? connection.run("ROLLBACK") }
            throw error
        }
    }

    /// Makes these changes in the open transaction, which has the lock to write from then on.
    static func adapt(_ connection: Connection, in sql: DatabaseSQL) throws {
        if sql.engine.hasLocks {
            // Two processes that both create the schema: the second one waits here.
            try connection.query("SELECT pg_advisory_xact_lock(1651339057)", for: "creating the tables")
        }
        if try !Catalog.hasBookkeeping(connection, schema: sql.schema) {
            // Before the bookkeeping is there, a table of an entity's name is another program's.
            _ = try SchemaComparison(connection, schema: sql.schema, to: sql.model)
        }
        try SchemaMigration.prepare(connection, schema: sql.schema, for: sql.model)
        try connection.run(sql.writerLock, for: "changing the tables")
        try change(connection, to: sql.model)
    }

    /// Begins the transaction of a dry run, in which the tables fit the model.
    private static func rehearse(_ connection: Connection, _ sql: DatabaseSQL) throws {
        guard connection.engine.hasTransactionalDDL else {
            guard try Catalog.format(connection, schema: sql.schema) == Bookkeeping.format,
                try SchemaComparison(connection, schema: sql.schema, to: sql.model).changes.allSatisfy(\.isOptional)
            else {
                throw StoreError(
                    .schema,
                    "\(connection.place): a dry run cannot create or change tables on \(sql.engine.name.rawValue)",
                    remedy: "run `bmo sync` first")
            }
            return try connection.run(
                "BEGIN \(sql.engine.isolation); SET LOCAL lock_timeout = '30s'; \(sql.writerLock)",
                for: "beginning a dry run")
        }
        try connection.run(connection.engine.tableChange)
        try SchemaMigration.prepare(connection, schema: sql.schema, for: sql.model)
        try connection.run(sql.writerLock, for: "beginning a dry run")
        try change(connection, to: sql.model)
    }

    /// Refuses what needs changes of tables in a transaction.
    static func checkTransactionalDDL(_ connection: Connection) throws {
        guard connection.engine.hasTransactionalDDL else {
            throw StoreError(
                .request,
                "\(connection.place): \(connection.engine.name.rawValue) cannot change tables in a transaction",
                remedy: "add schema=NAME to the address, and sync into a new schema")
        }
    }

    private static func change(_ connection: Connection, to model: CompiledModel) throws {
        var migration = try SchemaMigration(connection, schema: connection.location.schema, to: model)
        guard migration.plan.obstacles.isEmpty else { throw migration.plan.refusal.naming(connection.place) }
        _ = try migration.run(dropsUnused: false)
        try AdaptedModels(connection, schema: connection.location.schema).note(model)
    }

    /// Checks that the tables that a reader needs are there.
    private static func check(_ connection: Connection, _ model: CompiledModel, _ entities: [Int]?) throws {
        let schema = connection.location.schema
        guard try Catalog.format(connection, schema: schema) > 0 else { throw missing(connection) }
        let changes = try SchemaComparison(connection, schema: schema, to: model).changes
        try model.checkReadable(entities, changes: changes.filter { !$0.isOfReferenceOnly }, at: connection.place)
    }

    // MARK: - Migration

    private static func backupSchema(_ location: String, _ schema: String, _ backup: String) throws -> String {
        let name =
            backup.hasPrefix(location)
            ? schema + backup.dropFirst(location.count) : try DatabaseLocation(backup).schema
        try Identifier.check(name, "the backup's schema")
        return name
    }

    /// Returns the location of a copy: the text that was given for it, or where that leads elsewhere, one with its schema.
    private static func location(of backup: String, _ schema: String, like connection: Connection) -> String {
        let own = connection.location
        if let given = try? DatabaseLocation(backup), given.schema == schema, given.uri == own.uri { return backup }
        return own.text(ofSchema: schema)
    }

    /// Records a migration as a run.
    private static func addRun(
        _ connection: Connection, _ sql: DatabaseSQL, _ plan: SchemaPlan, _ notes: [String], forgotten runs: Set<Int64>,
        started: String
    ) throws {
        let summary = plan.summary(notes: notes, forgotten: runs)
        try connection.query(
            """
            WITH counted AS (UPDATE \(sql.own("bmo_database")) SET last_run = last_run + 1 RETURNING last_run)
            INSERT INTO \(sql.own("bmo_runs")) SELECT last_run, 'migrate', $1::text, $2::text, 'finished', $3::text, NULL
            FROM counted
            """, [.text(started), .text(Clock.now()), .text(summary)], for: "recording the migration")
    }
}
