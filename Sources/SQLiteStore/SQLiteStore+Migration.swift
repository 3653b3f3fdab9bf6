internal import GRDB
internal import Glibc
internal import Importer
public import Mapping

extension SQLiteStore {
    /// What a migration did.
    public struct Migration: Sendable, Equatable {
        /// What was to be done.
        public var plan: SchemaPlan
        /// The file as it was; nil when there was nothing to do.
        public var backup: String?
        /// What could not go along, in words.
        public var notes: [String]
    }

    /// What has to be done before the tables of the file at `path` fit a model, with what it costs.
    ///
    /// Reads only.
    ///
    /// - Throws: ``StoreError``.
    public static func migrationPlan(path: String, model: CompiledModel) throws -> SchemaPlan {
        try naming(path) {
            try translating("reading the tables") {
                let queue = try ReadingConnection.open(path)
                defer { try? queue.close() }
                return try queue.read { db in
                    try checkIsOurs(model, db)
                    let difference = try SchemaDifference(of: model, in: db)
                    var plan = SchemaPlan(difference)
                    for index in plan.steps.indices {
                        plan.steps[index].cost = try SchemaCost.of(difference.steps[index], difference, in: db)
                    }
                    return plan
                }
            }
        }
    }

    /// Makes the tables of the file at `path` fit a model: after a copy of the file, in one transaction.
    ///
    /// The transaction ends with a check of the whole file; what is not sound is taken back.
    ///
    /// - Parameters:
    ///   - path: The file. The caller has its ``FileLock``.
    ///   - model: The model.
    ///   - backup: Where the copy goes; there must be no such file.
    /// - Throws: ``StoreError``; then the file is as it was.
    public static func migrate(path: String, to model: CompiledModel, backup: String) throws -> Migration {
        try naming(path) {
            try translating("migrating") {
                let queue = try migrationQueue(path)
                defer { try? queue.close() }
                return try queue.writeWithoutTransaction { db in
                    try checkIsOurs(model, db)
                    guard try !SchemaPlan(SchemaDifference(of: model, in: db)).isEmpty else {
                        // Bookkeeping of an earlier version is brought up to date by whoever writes.
                        if try !SchemaUpdate.hasBookkeeping(in: db) {
                            try db.inTransaction(.immediate) {
                                try SchemaUpdate.migrate(db)
                                return .commit
                            }
                        }
                        return Migration(plan: SchemaPlan(steps: []), backup: nil, notes: [])
                    }
                    try back(up: db, of: path, to: backup)
                    var hasMigrated = false
                    // Without a migration it is a copy of what is there still, and takes space that may be short.
                    defer { if !hasMigrated { unlink(backup) } }
                    var result = Migration(plan: SchemaPlan(steps: []), backup: backup, notes: [])
                    try db.inTransaction(.immediate) {
                        let started = Clock.now()
                        try SchemaUpdate.migrate(db)
                        let difference = try SchemaDifference(of: model, in: db)
                        var migration = SchemaMigration(difference, in: db)
                        try migration.run()
                        result.plan = SchemaPlan(difference)
                        result.notes = migration.notes
                        try record(result, started, in: db)
                        return .commit
                    }
                    hasMigrated = true
                    return result
                }
            }
        }
    }

    /// - Throws: ``StoreError`` of the code `schema` when bmo has made nothing in the file.
    static func checkIsOurs(_ model: CompiledModel, _ db: Database) throws {
        guard try !db.tableExists("bmo_meta") else { return }
        try MadeTables(in: db).refuseOthers(among: SchemaBuilder(model).tables, in: db)
        throw StoreError(.schema, "bmo has made nothing in the file yet", remedy: "`bmo sync` adds its tables")
    }

    /// Copies the file; whoever may not read it may not read the copy at any moment.
    private static func back(up db: Database, of path: String, to backup: String) throws {
        var status = stat()
        let mode = stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o600
        let descriptor = Glibc.open(backup, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            guard errno != EEXIST else {
                throw StoreError(.io, "there is a file \(backup) already", remedy: "move it away")
            }
            throw StoreError(
                .io, "the copy \(backup) cannot be made: \(String(cString: strerror(errno)))",
                remedy: "check the folder and its permissions")
        }
        // The owner's too, where this is root's doing; that it cannot be is no reason to stop.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        _ = fchmod(descriptor, mode)
        Glibc.close(descriptor)
        do {
            // SQLite writes into an empty file that is there.
            try db.execute(sql: "VACUUM INTO ?", arguments: [backup])
        } catch {
            unlink(backup)
            throw error
        }
    }

    private static func migrationQueue(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "bmo migrate"
        configuration.busyMode = .timeout(5)
        // Tables are taken away and put back while others refer to them; all is checked before the commit.
        configuration.foreignKeysEnabled = false
        guard access(path, F_OK) == 0 else {
            throw StoreError(.open, "there is no such file", remedy: "`bmo sync` makes it")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func record(_ migration: Migration, _ started: String, in db: Database) throws {
        var summary = JSONText()
        summary.append("{")
        for (name, lines) in [("steps", migration.plan.steps.map(\.description)), ("notes", migration.notes)] {
            summary.beginMember(name)
            summary.append("[")
            for (index, line) in lines.enumerated() {
                if index > 0 { summary.append(",") }
                summary.append(string: line)
            }
            summary.append("]")
        }
        summary.append("}")
        try db.execute(
            sql: """
                INSERT INTO bmo_runs (kind, started, finished, outcome, summary) VALUES ('migrate', ?, ?, 'finished', ?)
                """, arguments: [started, Clock.now(), summary.string])
    }
}
