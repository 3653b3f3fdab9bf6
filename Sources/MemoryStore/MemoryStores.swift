public import Mapping
public import StoreContract
internal import StoreRules
internal import SystemCalls

/// Databases in memory, by location: all stores that one provider opens at a location share its database and its locks.
///
/// They are gone with the provider. A location is any text.
///
/// ```swift
/// let stores = MemoryStores()
/// let manager = try await RequestManager(config: "bmo.yml", stores: stores)
/// ```
public final class MemoryStores: StoreProvider {
    private let databases = Mutex<[String: MemoryDatabase]>([:])
    /// The locks of databases that need not exist yet.
    private let slots = Mutex<[String: MemoryDatabase]>([:])

    /// Creates a provider without databases.
    public init() {}

    /// Opens a database.
    public func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store {
        switch use {
        case .writing:
            let database = self.database(location)
            try adapt(database, to: model)
            databases.withLock { $0[location] = database }
            return try MemoryStore(database, model, for: use)
        case .rehearsing:
            guard let database = existing(location) else {
                // A dry run creates nothing.
                let database = MemoryDatabase(location)
                try adapt(database, to: model)
                return try MemoryStore(database, model, for: use)
            }
            return try MemoryStore(database, model, for: use)
        case .reading(let entities):
            guard let database = existing(location) else { throw Self.missing(location) }
            try check(database, model, entities)
            return try MemoryStore(database, model, for: use)
        }
    }

    /// Returns whether the database exists.
    public func exists(_ location: String) -> Bool { existing(location) != nil }

    /// Takes a lock of a database, which need not exist yet, without waiting.
    public func attemptLock(_ location: String, for purpose: LockPurpose, command: String) throws -> LockAttempt {
        slot(location, purpose).attempt(command: command)
    }

    /// Returns the holder of a lock; nil if the lock is free.
    public func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder? {
        slot(location, purpose).current
    }

    /// Waits for the lock of a text of a database, which need not exist yet, and takes it.
    public func lockText(_ location: String, name: String) throws -> (any StoredTextLock)? {
        try database(location).texts.lock(name, of: location)
    }

    /// Returns the tables of a model in words, a line each.
    public func schema(of model: CompiledModel) -> [String] { DatabaseSchema(model).words }

    /// Returns what has to change before the database's tables fit a model.
    public func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        guard let database = existing(location) else { throw Self.missing(location) }
        return MemorySchemaMigration(database.state, to: model).plan
    }

    /// Adapts the database's tables to a model in one transaction, after a backup.
    ///
    /// - Parameters:
    ///   - location: The database.
    ///   - model: The model that the tables are to fit.
    ///   - backup: The location of the backup, at which no database may exist.
    public func migrate(_ location: String, to model: CompiledModel, backup: String) throws -> MigrationResult {
        guard let database = existing(location) else { throw Self.missing(location) }
        let started = Clock.now()
        let id = ObjectIdentifier(database)
        let before = try database.begin(id)
        let migration = MemorySchemaMigration(before, to: model)
        guard !migration.changes.isEmpty else {
            database.end(id, nil)
            return MigrationResult(plan: SchemaPlan(steps: []), notes: [])
        }
        guard !exists(backup) else {
            database.end(id, nil)
            throw StoreError(.io, "there is a database \(backup) already", remedy: "give another location")
        }
        let copy = self.database(backup)
        copy.replace(before)
        databases.withLock { $0[backup] = copy }
        var (state, notes, forgotten) = migration.run(dropsUnused: true)
        let plan = migration.plan
        state.addRun(migrated: plan, notes, forgotten: forgotten, started: started)
        database.end(id, state, changed: Set(model.entities.map(\.name)))
        return MigrationResult(plan: plan, backup: backup, notes: notes)
    }

    /// Returns all rows of all tables.
    public func contents(of location: String) throws -> [TableContents] {
        guard let database = existing(location) else { throw Self.missing(location) }
        return database.state.contents
    }

    // MARK: - Databases

    private static func missing(_ location: String) -> StoreError {
        StoreError(.open, "\(location): there is no such database", remedy: "`bmo sync` creates it")
    }

    private func existing(_ location: String) -> MemoryDatabase? { databases.withLock { $0[location] } }

    /// Returns the database at a location, which may not exist yet.
    private func database(_ location: String) -> MemoryDatabase {
        slots.withLock { slots in
            if let known = slots[location] { return known }
            let new = MemoryDatabase(location)
            slots[location] = new
            return new
        }
    }

    private func slot(_ location: String, _ purpose: LockPurpose) -> LockSlot {
        let database = self.database(location)
        return purpose == .writing ? database.writing : database.pushing
    }

    /// Makes the changes that cannot lose data.
    private func adapt(_ database: MemoryDatabase, to model: CompiledModel) throws {
        guard database.state.schema != DatabaseSchema(model) else { return }
        let id = ObjectIdentifier(database)
        let migration = MemorySchemaMigration(try database.begin(id), to: model)
        let plan = migration.plan
        guard plan.obstacles.isEmpty else {
            database.end(id, nil)
            throw plan.refusal.naming(database.location)
        }
        database.end(id, migration.run(dropsUnused: false).state)
    }

    /// Checks that the tables that a reader needs are there.
    private func check(_ database: MemoryDatabase, _ model: CompiledModel, _ entities: [Int]?) throws {
        let state = database.state
        guard state.schema != DatabaseSchema(model) else { return }
        try model.checkReadable(
            entities, changes: MemorySchemaMigration(state, to: model).changes, at: database.location)
    }
}

extension DatabaseState {
    /// Records a migration as a run.
    fileprivate mutating func addRun(
        migrated plan: SchemaPlan, _ notes: [String], forgotten: Set<Int64>, started: String
    ) {
        lastRun += 1
        runs.append(
            RunRecord(
                id: lastRun, kind: "migrate", started: started, finished: Clock.now(), outcome: "finished",
                summary: plan.summary(notes: notes, forgotten: forgotten)))
    }
}
