internal import GRDB
internal import GRDBSQLite
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

/// A store that imports records into a SQLite file.
///
/// Tables are named after entities and columns after attributes; the prefix `bmo_` marks bookkeeping tables. The file is
/// in WAL mode, so an import never blocks readers.
public final class SQLiteStore: Store, @unchecked Sendable {
    // GRDB's queue serialises the writer; `openWriters` is accessed only inside its accesses.
    let writer: DatabaseQueue
    private let reader: ReadConnection
    let path: String
    let model: CompiledModel
    private let use: Use
    /// Whether all writes are rolled back at the end; see ``init(rehearsing:model:)``.
    var isRehearsal: Bool { use == .rehearsing }
    private var openWriters: Writers?
    /// The batches that listings had; nil if the store only reads or rehearses.
    ///
    /// Accessed only inside the writer's accesses.
    let memories: BatchMemories?
    /// The task that keeps the WAL short in the background; nil if the store only reads or rehearses.
    private let checkpoint: BackgroundCheckpoint?
    /// The file that was opened for writing.
    private let identity = Mutex<FileIdentity?>(nil)
    /// Whether an abandoned page still has to be rolled back; accessed only inside the writer's accesses.
    private var owesRollback = false
    /// The file's lock, while this store holds it.
    private let fileLock = Mutex<(any StoreLock)?>(nil)
    /// The notifier of observers, created on first use, as most runs have no observers.
    var watcher: ChangeWatcher {
        openWatcher.withLock { open in
            let watcher = open ?? ChangeWatcher { [weak self] body in self?.look(body) }
            open = watcher
            return watcher
        }
    }
    private let openWatcher = Mutex<ChangeWatcher?>(nil)
    /// The watcher, if an observer was ever added.
    var watcherInUse: ChangeWatcher? { openWatcher.withLock { $0 } }
    /// Whether ``close()`` was called.
    var isClosed: Bool { reader.isClosed }

    /// The purpose for which a store is opened.
    private enum Use {
        case writing, rehearsing, reading
    }

    private static let onlyRead = StoreError(.internal, "the database was opened for reading")

    /// Opens or creates the file at `path` and adapts its tables to the model.
    ///
    /// - Throws: `StoreError`: `open` if the file cannot be opened, `schema` if its tables do not fit the model.
    public convenience init(path: String, model: CompiledModel) throws {
        try self.init(path: path, model: model, use: .writing) { try Self.open(path) }
    }

    /// Opens the file at `path` for a rehearsal: all writes are discarded when the store is closed.
    ///
    /// Until then, only this store sees them. A missing file is not created.
    ///
    /// Pages are savepoints in one transaction, which locks out other writers as long as it lasts.
    ///
    /// - Throws: `StoreError` as for ``init(path:model:)``, and `busy` if another process is writing.
    public convenience init(rehearsing path: String, model: CompiledModel) throws {
        // SQLite's name for a private temporary database, which is on disk only when it is large.
        let path = access(path, F_OK) == 0 ? path : ""
        try self.init(path: path, model: model, use: .rehearsing) { try Self.open(path) }
    }

    /// Opens the file at `path` for reading: its tables stay unchanged, and no lock is taken.
    ///
    /// The file may be read-only.
    ///
    /// - Parameters:
    ///   - path: The file, which must exist.
    ///   - model: The model.
    ///   - entities: The indexes of the entities whose objects will be read; nil for all.
    /// - Throws: `StoreError`: `open` if the file cannot be opened, `schema` if it lacks tables or columns of these
    ///   entities.
    public convenience init(reading path: String, model: CompiledModel, entities: [Int]? = nil) throws {
        try self.init(path: path, model: model, use: .reading, entities: entities) {
            try ReadingConnection.open(path)
        }
    }

    private init(
        path: String, model: CompiledModel, use: Use, entities: [Int]? = nil, _ open: () throws -> DatabaseQueue
    ) throws {
        self.model = model
        self.path = path
        self.use = use
        reader = ReadConnection { try DatabaseQueue(path: path, configuration: Self.configuration(isReadOnly: true)) }
        checkpoint = use == .writing ? BackgroundCheckpoint(path: path) : nil
        memories = use == .writing ? BatchMemories(of: path, model: model) : nil
        writer = try SQLiteStore.naming(path) { try SQLiteStore.translating("opening it", open) }
        try SQLiteStore.naming(path) {
            if use == .reading {
                try read("reading the tables") { try SchemaCompatibilityCheck(model, entities, in: $0).check() }
            } else {
                try SQLiteStore.translating("making the tables") { try prepare() }
            }
        }
        if use == .writing { try unifyEditedKeys() }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        try FileNames.refuseSeveral(of: path)
        // Not GRDB's pool, which writes to the file on opening and leaves the WAL behind on closing (7.10.0).
        return try DatabaseQueue(path: path, configuration: configuration(isReadOnly: false))
    }

    /// Adapts the tables before anything else is written.
    private func prepare() throws {
        try writer.writeWithoutTransaction { db in
            if isRehearsal {
                db.add(transactionObserver: CommitGuard())
                try db.beginTransaction(.immediate)
            }
            if let checkpoint, let connection = db.sqliteConnection { checkpoint.follow(connection) }
            if try !SchemaUpdate.isCurrent(model, in: db, needsBookkeeping: true) {
                try inTransaction(db) { try SchemaUpdate.apply(model, to: db) }
            }
            // The file stores the journal mode; a file that is only read or is refused keeps its mode.
            // In WAL mode, NORMAL may lose the last commits at a power failure, but never consistency.
            if !isRehearsal { try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
            openWriters = try Writers(model, on: db.sqliteConnection)
            if !isRehearsal { identity.withLock { $0 = FileIdentity(path) } }
            memories?.identity = identity.withLock { $0 }
        }
    }

    /// Checks that the path still leads to the file being written.
    ///
    /// If the file was moved, deleted or replaced, SQLite would go on writing to the original, which has another name
    /// or none.
    ///
    /// - Throws: ``StoreError`` if it does not.
    func checkFile() throws {
        guard let opened = identity.withLock({ $0 }) else { return }
        let now = FileIdentity(path)
        guard now != opened else { return }
        throw StoreError(
            .io,
            "\(path): the database was \(now == nil ? "moved or deleted" : "replaced by another file") while it was "
                + "being written; later changes are not in it",
            remedy: "put it back and run the command again")
    }

    /// Runs `body` and prefixes its errors with the file's path.
    static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            // A failure to read or write means here that the file cannot be opened.
            let code = error.code == .io ? .open : error.code
            throw StoreError(code, "\(path): \(error.message)", remedy: error.remedy)
        }
    }

    private static func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.label = "bmo"
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(ConnectionSettings.lockTimeout)
        configuration.prepareDatabase { db in try DecimalCollation.add(to: db) }
        guard !isReadOnly else { return configuration }
        // A page's transaction stays open between two accesses, while its next batch is being fetched.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { db in
            try db.execute(sql: ConnectionSettings.pageCache)
        }
        return configuration
    }

    /// Runs `body` on a separate connection, which sees committed data only, not an open page.
    func read<Result>(_ action: String, _ body: (Database) throws -> Result) throws -> Result {
        try SQLiteStore.translating(action) {
            switch use {
            case .rehearsing: try writer.writeWithoutTransaction(body)
            case .reading: try writer.read(body)
            case .writing: try reader.read { db, _ in try body(db) }
            }
        }
    }

    /// Runs `body` as ``read(_:_:)`` does, with statements that are kept for the next call.
    func readPrepared<Result>(_ action: String, _ body: (Database, StatementCache) throws -> Result) throws -> Result {
        guard use == .writing else {
            return try read(action) { db in try body(db, StatementCache(on: db.sqliteConnection)) }
        }
        return try SQLiteStore.translating(action) { try reader.read(body) }
    }

    /// Closes the file and empties its WAL, unless another process has it open.
    ///
    /// - Throws: `StoreError`.
    public func close() throws {
        watcherInUse?.close()
        try SQLiteStore.translating("closing the database") {
            // The last connection to close runs a checkpoint, and a read-only connection cannot.
            try reader.close()
            checkpoint?.close()
            writer.writeWithoutTransaction { db in
                if !db.isInsideTransaction { try? memories?.save(db) }
                openWriters = nil
                if isRehearsal, db.isInsideTransaction { try? db.rollback() }
            }
            try writer.close()
        }
        fileLock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    /// Finalizes the statements of a store that was dropped without being closed, after an error for instance.
    ///
    /// The connection must outlive them: SQLite closes a connection with its last statement, and then calls the hooks of
    /// an open transaction, whose observers GRDB has released by that time.
    deinit {
        guard !isClosed else { return }
        writer.unsafeReentrantWrite { db in
            openWriters = nil
            if db.isInsideTransaction { try? db.rollback() }
        }
    }

    /// Whether this store holds the file's lock; see ``keep(_:)``.
    public var hasLock: Bool { fileLock.withLock { $0 != nil } }

    /// Keeps the file's lock until the store is closed.
    public func keep(_ lock: any StoreLock) { fileLock.withLock { $0 = lock } }

    /// Returns the tables of a model as SQL, in order of creation.
    public static func schema(of model: CompiledModel) -> [String] {
        SchemaBuilder(model).tables.flatMap { [$0.sql] + $0.indexes }.map { $0 + ";" }
    }

    /// Begins a page's transaction.
    public func beginPage() throws -> any PageTransaction { try beginOwnPage() }

    func beginOwnPage() throws -> SQLitePageTransaction {
        try SQLiteStore.translating("beginning a page") {
            try writer.writeWithoutTransaction { db in
                try beginTransaction(db)
                do {
                    memories?.noteVersion(try writers.refresh())
                    try writers.beginPage()
                } catch {
                    takeBack(db)
                    throw error
                }
                return SQLitePageTransaction(self)
            }
        }
    }

    /// Rolls back what a page has written.
    ///
    /// If that fails, for example for lack of memory, the next page rolls back first. Call it inside an access to the
    /// writer.
    func takeBack(_ db: Database) {
        openWriters?.changes.pageRolledBack()
        openWriters?.abandoned.forget()
        openWriters?.joins.pageRolledBack()
        openWriters?.forgetSeen()
        owesRollback = true
        try? finishRollback(db)
        watcherInUse?.rolledBack(at: totalChanges(db))
    }

    func finishRollback(_ db: Database) throws {
        guard owesRollback else { return }
        try rollbackTransaction(db)
        owesRollback = false
    }

    // MARK: - Transactions

    /// Begins a transaction; in a rehearsal, a savepoint in the transaction that is never committed.
    func beginTransaction(_ db: Database) throws {
        guard use != .reading else { throw Self.onlyRead }
        guard access(path, W_OK) == 0 || access(path, F_OK) != 0 else {
            throw StoreError(
                .io, "\(path) cannot be written by this user",
                remedy: "change its owner or mode, or run bmo as its owner")
        }
        try finishRollback(db)
        guard isRehearsal else { return try db.beginTransaction(.immediate) }
        // SQLite ends the transaction itself when disk or memory runs out. A savepoint would then start a new one.
        guard db.isInsideTransaction else {
            throw StoreError(.io, "the dry run's transaction has ended", remedy: "free some space and run it again")
        }
        try db.execute(sql: "SAVEPOINT bmo_page")
    }

    func commitTransaction(_ db: Database) throws {
        guard !isRehearsal else { return try db.execute(sql: "RELEASE bmo_page") }
        try checkFile()
        do {
            try db.commit()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY {
            throw Self.brokenReference(in: db) ?? error
        }
    }

    /// Returns the error of a reference that is checked at the commit; nil if none is found.
    ///
    /// Those that bmo makes hold, unless something else changes rows with it.
    private static func brokenReference(in db: Database) -> (any Error)? {
        let sql = "SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 1"
        guard let row = try? Row.fetchOne(db, sql: sql) else { return nil }
        let (table, target) = (row[0] as String, row[1] as String)
        return StoreError(
            .constraint, "a row of the table \(table) refers to one of \(target) that is not there",
            remedy: "drop the foreign key or the trigger that bmo did not create")
    }

    /// Notifies observers of the entities whose rows a transaction has written, and forgets the batches of their listings.
    ///
    /// - Parameter own: The listing that accounts for its own batches.
    func noteCommit(of entities: Set<Int>, by own: ListingMemory? = nil, _ db: Database) {
        guard !isRehearsal else { return }
        watcherInUse?.committed(entities, at: totalChanges(db))
        memories?.committed(entities, by: own)
    }

    func rollbackTransaction(_ db: Database) throws {
        guard db.isInsideTransaction else { return }
        if isRehearsal {
            try db.execute(sql: "ROLLBACK TO bmo_page; RELEASE bmo_page")
        } else {
            try db.rollback()
        }
    }

    /// Runs `body` in its own transaction.
    func inTransaction<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
        try finishRollback(db)
        try beginTransaction(db)
        do {
            let result = try body()
            try commitTransaction(db)
            // Bookkeeping, which observers are not notified of.
            noteCommit(of: [], db)
            return result
        } catch {
            takeBack(db)
            throw error
        }
    }

    /// The prepared statements, which live until the file is closed; do not retain them.
    var writers: Writers {
        get throws {
            guard let openWriters else { throw use == .reading ? Self.onlyRead : ReadConnection.closed }
            return openWriters
        }
    }

    /// Runs `body` and converts GRDB's errors to ``StoreError``.
    static func translating<Result>(_ action: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            // GRDB does not pass it on; mostly no call has failed since.
            let number = errno
            throw SQLiteFailure.error(
                code: error.resultCode.rawValue, words: error.message ?? "no message", action: action,
                systemError: number)
        }
    }
}

/// An observer that prevents a rehearsal from ever being committed.
private final class CommitGuard: TransactionObserver {
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseWillCommit() throws {
        throw StoreError(.internal, "a dry run was about to be committed")
    }
}
