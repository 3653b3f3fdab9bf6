public import Mapping

/// A kind of database: opens the stores that configurations name.
///
/// The program passes one to the library, which never names a database itself:
///
/// ```swift
/// let manager = try await RequestManager(config: "bmo.yml", stores: SQLiteStores())
/// ```
///
/// A location is the configuration's `database:`, made absolute; for SQLite a path. The order for writing: a lock, then
/// ``open(_:model:for:)``, and ``Store/keep(_:)`` with the lock, which ends with the store; the other calls open and close
/// the database themselves. All calls block and may come from any thread. Errors are ``StoreError``.
public protocol StoreProvider: Sendable {
    /// Opens a database.
    ///
    /// - Parameters:
    ///   - location: The database.
    ///   - model: The model, whose tables the database has or gets.
    ///   - use: What for; see ``StoreUse``.
    /// - Throws: ``StoreError``: `open` if it cannot be opened, `schema` if its tables do not fit the model, `busy` if
    ///   another process is writing it for too long.
    func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store

    /// Returns whether the database exists.
    func exists(_ location: String) -> Bool

    /// Takes a lock of a database, which need not exist yet, without waiting.
    ///
    /// - Parameters:
    ///   - location: The database.
    ///   - purpose: What the lock is for.
    ///   - command: How this process describes itself to others, such as `bmo sync`; no secrets.
    /// - Throws: ``StoreError`` of the code `open` if the database cannot have a lock.
    func attemptLock(_ location: String, for purpose: LockPurpose, command: String) throws -> LockAttempt

    /// Takes the lock to write a database together with other workers, without waiting: several processes can hold it at
    /// a time, while none holds the lock to write.
    ///
    /// - Throws: ``StoreError`` of the code `request` if only one process at a time can write the kind of database, as by
    ///   default.
    func attemptSharedLock(_ location: String, command: String) throws -> LockAttempt

    /// Returns what tries to take a lock for a caller that waits for it: each call is one attempt, without waiting.
    ///
    /// By default, an attempt is a call of ``attemptLock(_:for:command:)``, or of ``attemptSharedLock(_:command:)``. A
    /// store behind a network keeps a connection from one attempt to the next.
    ///
    /// - Parameters:
    ///   - location: The database.
    ///   - purpose: What the lock is for; that of a shared lock is to write.
    ///   - isShared: Whether the lock is the one that workers share.
    ///   - command: How this process describes itself to others; no secrets.
    func lockAttempts(
        _ location: String, for purpose: LockPurpose, isShared: Bool, command: String
    ) -> @Sendable () throws -> LockAttempt

    /// Checks that no later model has changed the tables in a way that this one would undo; a worker calls it with the
    /// shared lock, before it opens the database.
    ///
    /// A worker that was restarted with an earlier configuration would add again what the others have dropped or renamed. By
    /// default there is nothing to check.
    ///
    /// - Parameters:
    ///   - model: The worker's model.
    ///   - location: The database, which need not exist yet.
    /// - Throws: ``StoreError`` of the code `schema` that names the change.
    func checkIsNewest(_ model: CompiledModel, of location: String) throws

    /// Returns the holder of a lock; nil if the lock is free or the holder cannot be determined.
    func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder?

    /// Waits for the lock of a text that all processes of a database share, and takes it; the database need not exist yet.
    ///
    /// The texts are kept beside the rows, and do not belong to them: nothing copies, shows or exports them. Many processes can
    /// have locks of different texts, and no lock of the database is needed.
    ///
    /// - Parameters:
    ///   - location: As the configuration has it.
    ///   - name: 1 to 200 letters, digits, hyphens and underscores.
    /// - Returns: Nil if the kind of database keeps no texts, as by default.
    /// - Throws: ``StoreError``: `busy` if the lock is not free within ``SharedTextLimits/wait``.
    func lockText(_ location: String, name: String) throws -> (any StoredTextLock)?

    /// Returns the number of columns that a table can have, those of its key counted twice; nil, the default, for no limit.
    ///
    /// A query reads the key of each row beside its columns.
    func mostColumns(of location: String) -> Int?

    /// Returns the number of attributes that a key can have; nil, the default, for no limit.
    func mostKeyAttributes(of location: String) -> Int?

    /// Returns the statements that create the tables of a model, in order.
    func schema(of model: CompiledModel) -> [String]

    /// Returns what has to change before the database's tables fit a model, with the cost; only reads.
    ///
    /// - Throws: ``StoreError``.
    func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan

    /// Returns what has to change before the database's tables fit a model, without the cost, for which whole tables may
    /// have to be read; only reads.
    ///
    /// By default, it is the plan of ``migrationPlan(of:to:)``.
    ///
    /// - Throws: ``StoreError``.
    func schemaPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan

    /// Adapts the database's tables to a model in one transaction, after a backup; call it with the lock.
    ///
    /// - Parameters:
    ///   - location: The database.
    ///   - model: The model that the tables are to fit.
    ///   - backup: The backup's location, which must not exist.
    /// - Throws: ``StoreError``; the database is unchanged then.
    func migrate(_ location: String, to model: CompiledModel, backup: String) throws -> MigrationResult

    /// Returns what is wrong with a database, which need not exist, apart from its tables; may read all of it.
    ///
    /// By default nothing is examined.
    ///
    /// - Throws: ``StoreError`` if it cannot be read.
    func faults(of location: String) throws -> [StoreError]

    /// Returns all rows of all tables other than bookkeeping tables, for comparison with expected ones.
    ///
    /// - Throws: ``StoreError``.
    func contents(of location: String) throws -> [TableContents]

    /// Reads the whole content of a database; refuses by default.
    ///
    /// - Throws: ``StoreError``, and what `body` throws.
    func readContent(of location: String, model: CompiledModel, _ body: (any ContentReader) throws -> Void) throws

    /// Fills a new or empty database in one transaction, which ends when `body` returns or throws.
    ///
    /// - Throws: ``StoreError``: `request` if the database has rows; and what `body` throws.
    func writeContent(to location: String, model: CompiledModel, _ body: (any ContentWriter) throws -> Void) throws
}

extension StoreProvider {
    /// Returns the plan with its cost.
    public func schemaPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan {
        try migrationPlan(of: location, to: model)
    }

    /// Examines nothing.
    public func faults(of location: String) throws -> [StoreError] { [] }

    /// Has no limit.
    public func mostColumns(of location: String) -> Int? { nil }

    /// Has no limit.
    public func mostKeyAttributes(of location: String) -> Int? { nil }

    /// Checks nothing.
    public func checkIsNewest(_ model: CompiledModel, of location: String) throws {}

    /// Keeps no texts.
    public func lockText(_ location: String, name: String) throws -> (any StoredTextLock)? { nil }

    /// Attempts independently of each other.
    public func lockAttempts(
        _ location: String, for purpose: LockPurpose, isShared: Bool, command: String
    ) -> @Sendable () throws -> LockAttempt {
        {
            isShared
                ? try attemptSharedLock(location, command: command)
                : try attemptLock(location, for: purpose, command: command)
        }
    }

    /// Refuses: only one process at a time can write.
    public func attemptSharedLock(_ location: String, command: String) throws -> LockAttempt {
        throw StoreError.cannotShare(location)
    }
}

extension StoreError {
    /// The error of workers that are to share a database of one process.
    package static func cannotShare(_ location: String) -> StoreError {
        StoreError(
            .request, "\(location) cannot be shared by workers: only one process at a time can write a file",
            remedy: "use `bmo sync` or `bmo watch`, or \"database: postgresql://...\" (docs/postgresql.md)")
    }
}

/// What a database is opened for.
public enum StoreUse: Sendable, Equatable {
    /// Reading and writing: the database is created if necessary, and missing tables and columns are added.
    case writing
    /// A dry run: what is written is visible to this store only, and gone when it is closed. Other writers wait.
    case rehearsing
    /// Reading: the database must exist, and is neither changed nor locked.
    ///
    /// `entities` are the indexes of those whose tables must fit the model; nil for all.
    case reading(entities: [Int]?)
}
