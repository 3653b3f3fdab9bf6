internal import GRDB
public import StoreContract
internal import StoreRules
public import Mapping
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension SQLiteStore {
    /// Returns the changes that the tables of the file at `path` need to fit a model, with their cost.
    ///
    /// Only reads the file.
    ///
    /// - Throws: `StoreError`.
    public static func migrationPlan(path: String, model: CompiledModel) throws -> SchemaPlan {
        try migrationPlan(path: path, model: model, withCosts: true)
    }

    /// - Parameter withCosts: Whether the tables are read for the cost.
    static func migrationPlan(path: String, model: CompiledModel, withCosts: Bool) throws -> SchemaPlan {
        try naming(path) {
            try translating("reading the tables") {
                let queue = try ReadingConnection.open(path)
                defer { try? queue.close() }
                return try queue.read { db in
                    try ManagedTables.checkIsOurs(model, in: db)
                    // Refuses a file of a newer version.
                    _ = try SchemaUpdate.hasBookkeeping(in: db)
                    let difference = try SchemaDifference(of: model, in: db)
                    var plan = SchemaPlan(difference)
                    for index in plan.steps.indices where withCosts {
                        plan.steps[index].cost = try SchemaCost.of(difference.steps[index], difference, in: db)
                    }
                    return plan
                }
            }
        }
    }

    /// Adapts the tables of the file at `path` to a model, in one transaction, after a backup.
    ///
    /// The transaction ends with a check of the whole file and is rolled back if the check fails.
    ///
    /// - Parameters:
    ///   - path: The file, whose `FileLock` the caller holds.
    ///   - model: The model.
    ///   - backup: The path of the backup, which must not exist.
    /// - Throws: `StoreError`; the file is unchanged then.
    public static func migrate(path: String, to model: CompiledModel, backup: String) throws -> MigrationResult {
        try naming(path) {
            try translating("migrating") {
                let queue = try migrationQueue(path)
                defer { try? queue.close() }
                return try queue.writeWithoutTransaction { db in
                    try ManagedTables.checkIsOurs(model, in: db)
                    let isCurrent = try SchemaUpdate.hasBookkeeping(in: db)
                    guard try !SchemaPlan(SchemaDifference(of: model, in: db)).isEmpty else {
                        // Any writer brings the bookkeeping of an earlier version up to date.
                        if !isCurrent {
                            try db.inTransaction(.immediate) {
                                try SchemaUpdate.migrate(db)
                                return .commit
                            }
                        }
                        return MigrationResult(plan: SchemaPlan(steps: []), backup: nil, notes: [])
                    }
                    try DatabaseBackup(path: path, backup: backup).make(from: db)
                    var hasMigrated = false
                    // Without a migration, the backup only duplicates the file and takes disk space that may be short.
                    defer { if !hasMigrated { unlink(backup) } }
                    var result = MigrationResult(plan: SchemaPlan(steps: []), backup: backup, notes: [])
                    try db.inTransaction(.immediate) {
                        let started = Clock.now()
                        try SchemaUpdate.migrate(db)
                        let difference = try SchemaDifference(of: model, in: db)
                        var migration = SchemaMigration(difference, in: db)
                        try migration.run()
                        result.plan = SchemaPlan(difference)
                        result.notes = migration.notes
                        try record(result, started, forgotten: migration.forgottenRuns, in: db)
                        return .commit
                    }
                    hasMigrated = true
                    return result
                }
            }
        }
    }

    private static func migrationQueue(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "bmo migrate"
        configuration.busyMode = .timeout(ConnectionSettings.lockTimeout)
        // Tables are dropped and recreated while others refer to them; everything is checked before the commit.
        configuration.foreignKeysEnabled = false
        guard access(path, F_OK) == 0 else {
            throw StoreError(.open, "there is no such file", remedy: "`bmo sync` creates it")
        }
        try FileNames.refuseSeveral(of: path)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func record(
        _ migration: MigrationResult, _ started: String, forgotten runs: Set<Int64>, in db: Database
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO bmo_runs (kind, started, finished, outcome, summary) VALUES ('migrate', ?, ?, 'finished', ?)
                """, arguments: [started, Clock.now(), migration.plan.summary(notes: migration.notes, forgotten: runs)])
    }
}
