public import Mapping
public import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// SQLite files as stores: the location is the file's path.
///
/// The lock is `FILE-lock` beside the database, so it needs a folder in which files can be created.
public struct SQLiteStores: StoreProvider {
    /// Creates a provider.
    public init() {}

    /// Opens the file at `location`; see ``SQLiteStore``.
    public func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store {
        switch use {
        case .writing: try SQLiteStore(path: location, model: model)
        case .rehearsing: try SQLiteStore(rehearsing: location, model: model)
        case .reading(let entities): try SQLiteStore(reading: location, model: model, entities: entities)
        }
    }

    /// Returns whether there is a file at `location`.
    public func exists(_ location: String) -> Bool { access(location, F_OK) == 0 }

    /// Takes the lock of the file at `location`, without waiting.
    public func attemptLock(_ location: String, for purpose: LockPurpose, command: String) throws -> LockAttempt {
        try FileLock.attempt(FileLock.subject(location, for: purpose), command: command)
    }

    /// Returns the holder of a lock of the file at `location`.
    public func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder? {
        FileLock.holder(of: FileLock.subject(location, for: purpose))
    }

    /// Waits for the lock of a text in the folder `FILE-tokens`, and takes it.
    public func lockText(_ location: String, name: String) throws -> (any StoredTextLock)? {
        try TokenFile(location, name: name)
    }

    /// Returns the limit of SQLite, `SQLITE_MAX_COLUMN`, for the columns of a table and of a result.
    public func mostColumns(of location: String) -> Int? { 2000 }

    /// Returns the limit of SQLite, `SQLITE_MAX_EXPR_DEPTH`, less one.
    ///
    /// A row is found by a condition for each attribute of its key, and each is one level of the expression.
    public func mostKeyAttributes(of location: String) -> Int? { 999 }

    /// Returns the tables of a model as SQL, in order of creation.
    public func schema(of model: CompiledModel) -> [String] { SQLiteStore.schema(of: model) }

    /// Returns what has to change before the file's tables fit a model.
    public func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        try SQLiteStore.migrationPlan(path: location, model: model)
    }

    /// Returns the same without the cost, so that no rows are read for it.
    public func schemaPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        try SQLiteStore.migrationPlan(path: location, model: model, withCosts: false)
    }

    /// Adapts the file's tables to a model.
    public func migrate(_ location: String, to model: CompiledModel, backup: String) throws -> MigrationResult {
        try SQLiteStore.migrate(path: location, to: model, backup: backup)
    }

    /// Returns whether the file has several names, or is damaged.
    public func faults(of location: String) throws -> [StoreError] { try SQLiteStore.faults(path: location) }

    /// Returns all rows of the file's tables other than bookkeeping tables.
    public func contents(of location: String) throws -> [TableContents] { try TableContents.read(path: location) }
}
