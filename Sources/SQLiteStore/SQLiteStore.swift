internal import GRDB
internal import GRDBSQLite
internal import Glibc
public import Importer
public import Mapping
internal import Synchronization

/// A SQLite file that imports write to and that anybody can read: the only target that knows SQL.
///
/// Tables are named as entities and columns as attributes; bookkeeping lies in tables with the prefix `bmo_`. The file
/// is in WAL mode: readers are never blocked by an import.
public final class SQLiteStore: Store, @unchecked Sendable {
    // GRDB's queue serialises the writer; `openWriters` is touched inside its accesses only.
    let writer: DatabaseQueue
    private let reader: Mutex<Reader>
    let path: String
    let model: CompiledModel
    private let use: Use
    /// Whether all that is written is taken back at the end; see ``init(rehearsing:model:)``.
    var isRehearsal: Bool { use == .rehearsing }
    private var openWriters: Writers?
    /// Keeps the log short beside the writer; nil where the file is only read, or nothing is to stay.
    private let checkpoint: BackgroundCheckpoint?
    /// A page that was given up is still open; touched inside the writer's accesses only.
    private var owesRollback = false
    /// The lock of the file, while this store has it.
    private let fileLock = Mutex<FileLock?>(nil)
    /// Tells observers of changes; made when first wanted, as most runs observe nothing.
    var watcher: ChangeWatcher {
        openWatcher.withLock { open in
            let watcher = open ?? ChangeWatcher { [weak self] body in self?.look(body) }
            open = watcher
            return watcher
        }
    }
    private let openWatcher = Mutex<ChangeWatcher?>(nil)
    /// The watcher, if anybody ever observed.
    var watcherInUse: ChangeWatcher? { openWatcher.withLock { $0 } }
    /// Whether ``close()`` was called.
    var isClosed: Bool { reader.withLock { $0.isClosed } }

    /// The connection for reading, opened when first wanted.
    private struct Reader {
        var queue: DatabaseQueue?
        var isClosed = false
    }

    /// What a store is opened for.
    private enum Use {
        case writing, rehearsing, reading
    }

    private static let closed = StoreError(.internal, "the database is closed")
    private static let onlyRead = StoreError(.internal, "the database was opened for reading")

    /// Opens or makes the file at `path` and makes its tables fit the model.
    ///
    /// - Throws: ``StoreError``: `open` when the file cannot be, `schema` when its tables do not fit the model.
    public convenience init(path: String, model: CompiledModel) throws {
        try self.init(path: path, model: model, use: .writing) { try Self.open(path) }
    }

    /// Opens the file at `path` for a rehearsal: all that is written is gone when the store is closed.
    ///
    /// Until then it is seen through this store alone. A file that is not there is not made.
    ///
    /// Pages are savepoints in one transaction. It keeps other writers out for as long as it lasts.
    ///
    /// - Throws: ``StoreError`` as ``init(path:model:)``, and `busy` when another process is writing.
    public convenience init(rehearsing path: String, model: CompiledModel) throws {
        // SQLite's name for a database that is nobody else's and on disk only when it is large.
        let path = access(path, F_OK) == 0 ? path : ""
        try self.init(path: path, model: model, use: .rehearsing) { try Self.open(path) }
    }

    /// Opens the file at `path` to read it: its tables stay as they are, and no lock is taken.
    ///
    /// A file that nobody may write can be read too.
    ///
    /// - Parameters:
    ///   - path: The file, which must be there.
    ///   - model: The model.
    ///   - entities: The entities, by their indexes, whose objects are to be read; nil for all.
    /// - Throws: ``StoreError``: `open` when the file cannot be, `schema` when it does not have the tables and columns of
    ///   these entities yet.
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
        reader = Mutex(Reader())
        checkpoint = use == .writing ? BackgroundCheckpoint(path: path) : nil
        writer = try SQLiteStore.naming(path) { try SQLiteStore.translating("opening it", open) }
        try SQLiteStore.naming(path) {
            if use == .reading {
                try read("reading the tables") { try SchemaLag(model, entities, in: $0).check() }
            } else {
                try SQLiteStore.translating("making the tables") { try prepare() }
            }
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        // Not GRDB's pool: it writes to the file when it opens it, and leaves the WAL behind when it closes (7.10.0).
        try DatabaseQueue(path: path, configuration: configuration(isReadOnly: false))
    }

    /// Makes the tables fit, before anything else is written.
    private func prepare() throws {
        try writer.writeWithoutTransaction { db in
            if isRehearsal {
                db.add(transactionObserver: CommitGuard())
                try db.beginTransaction(.immediate)
            }
            if let checkpoint, let connection = db.sqliteConnection { checkpoint.follow(connection) }
            if try !SchemaUpdate.isCurrent(model, in: db) {
                try inTransaction(db) { try SchemaUpdate.apply(model, to: db) }
            }
            // The mode is in the file: that of one that is only looked at, or refused, stays.
            // In WAL mode NORMAL loses nothing but the last commits at a power failure, and never consistency.
            if !isRehearsal { try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL") }
            openWriters = try Writers(model, on: db.sqliteConnection)
        }
    }

    /// Runs `body`, and puts the file's path before what its errors say.
    static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            // That the file cannot be read or written means here that it cannot be opened.
            let code = error.code == .io ? .open : error.code
            throw StoreError(code, "\(path): \(error.message)", remedy: error.remedy)
        }
    }

    /// 12 MiB of page cache in place of SQLite's 2, for a connection that reads much: look-ups out of the table's order
    /// find its pages in memory, and a sync stays far below the 64 MiB that it may take, whatever the number of rows.
    static let pageCache = "PRAGMA cache_size = -12288"

    private static func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.label = "bmo"
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(5)
        guard !isReadOnly else { return configuration }
        // A page's transaction stays open between two accesses, while its next batch is on its way.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { db in
            try db.execute(sql: pageCache)
        }
        return configuration
    }

    /// Reads what is committed, on a connection of its own: an open page does not show.
    func read<Result>(_ action: String, _ body: (Database) throws -> Result) throws -> Result {
        try SQLiteStore.translating(action) {
            if isRehearsal { return try writer.writeWithoutTransaction(body) }
            if use == .reading { return try writer.read(body) }
            let queue = try reader.withLock { reader in
                guard !reader.isClosed else { throw Self.closed }
                let queue =
                    try reader.queue ?? DatabaseQueue(path: path, configuration: Self.configuration(isReadOnly: true))
                reader.queue = queue
                return queue
            }
            return try queue.read(body)
        }
    }

    /// Closes the file and empties its WAL, unless another process has it open.
    ///
    /// - Throws: ``StoreError``.
    public func close() throws {
        watcherInUse?.close()
        try SQLiteStore.translating("closing the database") {
            // The last connection to close checkpoints, and a read-only one cannot.
            try reader.withLock { reader in
                try reader.queue?.close()
                reader = Reader(isClosed: true)
            }
            writer.writeWithoutTransaction { db in
                openWriters = nil
                if isRehearsal, db.isInsideTransaction { try? db.rollback() }
            }
            checkpoint?.close()
            try writer.close()
        }
        fileLock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    /// Whether this store has the file's lock; see ``keep(_:)``.
    package var hasLock: Bool { fileLock.withLock { $0 != nil } }

    /// Keeps the lock of the file until the store is closed.
    package func keep(_ lock: FileLock) { fileLock.withLock { $0 = lock } }

    /// The tables of a model as SQL, in the order in which they are made.
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
                    try writers.refresh()
                    try writers.edits.beginPage()
                } catch {
                    takeBack(db)
                    throw error
                }
                return SQLitePageTransaction(self)
            }
        }
    }

    /// Takes back what a page has written; where that fails, for want of memory say, the next page does it first.
    ///
    /// Call it inside an access to the writer.
    func takeBack(_ db: Database) {
        openWriters?.changes.pageRolledBack()
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

    /// Begins a transaction, which in a rehearsal is a part of the one that is never committed.
    func beginTransaction(_ db: Database) throws {
        guard use != .reading else { throw Self.onlyRead }
        try finishRollback(db)
        guard isRehearsal else { return try db.beginTransaction(.immediate) }
        // SQLite ends a transaction by itself when there is no space or no memory left. A savepoint would be a new one.
        guard db.isInsideTransaction else {
            throw StoreError(.io, "the dry run's transaction has ended", remedy: "free some space and run it again")
        }
        try db.execute(sql: "SAVEPOINT bmo_page")
    }

    func commitTransaction(_ db: Database) throws {
        if isRehearsal { try db.execute(sql: "RELEASE bmo_page") } else { try db.commit() }
    }

    func rollbackTransaction(_ db: Database) throws {
        guard db.isInsideTransaction else { return }
        if isRehearsal {
            try db.execute(sql: "ROLLBACK TO bmo_page; RELEASE bmo_page")
        } else {
            try db.rollback()
        }
    }

    /// Runs `body` in a transaction of its own.
    func inTransaction<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
        try finishRollback(db)
        try beginTransaction(db)
        do {
            let result = try body()
            try commitTransaction(db)
            // Bookkeeping, of which observers are not told.
            if !isRehearsal { watcherInUse?.committed([], at: totalChanges(db)) }
            return result
        } catch {
            takeBack(db)
            throw error
        }
    }

    /// The statements, which live until the file is closed: nobody else may keep them.
    var writers: Writers {
        get throws {
            guard let openWriters else { throw use == .reading ? Self.onlyRead : Self.closed }
            return openWriters
        }
    }

    /// Runs `body`, and throws GRDB's errors as ``StoreError``.
    static func translating<Result>(_ action: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw SQLiteFailure.error(
                code: error.resultCode.rawValue, words: error.message ?? "no message", action: action)
        }
    }
}

/// Keeps a rehearsal from being committed, whatever happens.
private final class CommitGuard: TransactionObserver {
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseWillCommit() throws {
        throw StoreError(.internal, "a dry run was about to be committed")
    }
}

/// The prepared statements of a model, made once per connection.
final class Writers {
    let stubs: StubTable
    let changes: ChangeLog
    let provenance: ProvenanceTable
    let walks: WalkTable
    let cursors: CursorTable
    let origins: OriginTable
    let orphans: OrphanTable
    let quarantine: QuarantineWriter
    let unknownFields: UnknownFieldTable
    let outbox: OutboxTable
    let conflicts: ConflictTable
    let acknowledged: AcknowledgedTable
    let model: CompiledModel
    private let connection: OpaquePointer?
    private let dataVersion: RawStatement
    private var seenVersion: Int64?
    private var entities: [EntityWriter?]
    private var links: [[Int]: LinkWriter] = [:]
    /// Deletes rows.
    private(set) lazy var remover = RowRemover(model, self, on: connection)
    /// Finds the rows that a listing lacks.
    private(set) lazy var sweep = Sweep(model, self, on: connection)
    /// Merges imports into objects with edits.
    private(set) lazy var edits = EditMerge(model, self)
    /// Makes local edits.
    private(set) lazy var localEditor = LocalEditor(model, self)
    /// Gives objects other keys.
    private(set) lazy var keyRename = KeyRename(model, self)

    init(_ model: CompiledModel, on connection: OpaquePointer?) throws {
        self.model = model
        self.connection = connection
        entities = Array(repeating: nil, count: model.entities.count)
        stubs = try StubTable(on: connection, entities: model.entities.map(\.name))
        changes = try ChangeLog(on: connection, entityCount: model.entities.count)
        provenance = try ProvenanceTable(on: connection, model: model, changes: changes)
        walks = try WalkTable(on: connection)
        cursors = try CursorTable(on: connection)
        origins = try OriginTable(on: connection)
        orphans = try OrphanTable(on: connection, model: model)
        quarantine = try QuarantineWriter(on: connection)
        unknownFields = UnknownFieldTable(on: connection)
        outbox = try OutboxTable(model, on: connection)
        conflicts = ConflictTable(model, on: connection)
        acknowledged = try AcknowledgedTable(model, on: connection)
        dataVersion = try RawStatement("PRAGMA data_version", on: connection)
    }

    /// Reads again what is kept in memory, if another process has written since; call it inside a transaction.
    func refresh() throws {
        _ = try dataVersion.step()
        let version = dataVersion.int64(0)
        dataVersion.reset()
        guard version != seenVersion else { return }
        try reload()
        seenVersion = version
    }

    /// What is kept in memory may be wrong: the next page reads it again.
    func forgetSeen() { seenVersion = nil }

    /// Reads again what is kept in memory.
    func reload() throws {
        try stubs.reload(model.entities.map(\.name))
        try outbox.reload()
        try acknowledged.reload()
        provenance.forgetMemory()
        unknownFields.forget()
    }

    /// The writer of the table of an entity.
    func entity(_ index: Int) throws -> EntityWriter {
        let index = model.entities[index].root
        if let writer = entities[index] { return writer }
        let writer = try EntityWriter(
            model.entities[index],
            contested: model.family(of: index).reduce(into: []) { $0.formUnion(model.contestedFields(of: $1)) },
            on: connection, stubs: stubs, changes: changes, provenance: provenance,
            edits: edits)
        entities[index] = writer
        return writer
    }

    /// Leaves the rows that the writers of tables are at: before an access ends, so that no statement outlives it.
    func pause() {
        for entity in entities { entity?.pause() }
    }

    func links(_ entity: Int, _ relationship: Int) throws -> LinkWriter {
        let entity = model.entities[entity].root
        if let writer = links[[entity, relationship]] { return writer }
        let layout = model.entities[entity]
        let writer = try LinkWriter(
            layout.toMany[relationship], of: layout, model, on: connection, changes: changes, orphans: orphans,
            edits: edits)
        links[[entity, relationship]] = writer
        return writer
    }
}
