internal import GRDB
internal import GRDBSQLite
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
    private var openWriters: Writers?
    /// The lock of the file, while this store has it.
    private let fileLock = Mutex<FileLock?>(nil)

    /// The connection for reading, opened when first wanted.
    private struct Reader {
        var queue: DatabaseQueue?
        var isClosed = false
    }

    private static let closed = StoreError(.internal, "the database is closed")

    /// Opens or makes the file at `path` and makes its tables fit the model.
    ///
    /// - Throws: ``StoreError``: `open` when the file cannot be, `schema` when its tables do not fit the model.
    public init(path: String, model: CompiledModel) throws {
        self.model = model
        self.path = path
        reader = Mutex(Reader())
        // Not GRDB's pool: it writes to the file when it opens it, and leaves the WAL behind when it closes (7.10.0).
        writer = try SQLiteStore.naming(path) {
            try SQLiteStore.translating("opening it") {
                try DatabaseQueue(path: path, configuration: Self.configuration(isReadOnly: false))
            }
        }
        try SQLiteStore.naming(path) {
            try SQLiteStore.translating("making the tables") {
                try writer.writeWithoutTransaction { db in
                    if try !SchemaUpdate.isCurrent(model, in: db) {
                        try db.inTransaction(.immediate) {
                            try SchemaUpdate.apply(model, to: db)
                            return .commit
                        }
                    }
                    openWriters = try Writers(model, on: db.sqliteConnection)
                }
            }
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

    private static func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.label = "bmo"
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(5)
        guard !isReadOnly else { return configuration }
        // A page's transaction stays open between two accesses, while its next batch is on its way.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { db in
            // In WAL mode NORMAL loses nothing but the last commits at a power failure, and never consistency.
            // 16 MiB of page cache; a fourth of the checkpoints that the default of 1,000 pages makes.
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                    PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000
                    """)
        }
        return configuration
    }

    /// Reads what is committed, on a connection of its own: an open page does not show.
    func read<Result>(_ action: String, _ body: (Database) throws -> Result) throws -> Result {
        try SQLiteStore.translating(action) {
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
        try SQLiteStore.translating("closing the database") {
            // The last connection to close checkpoints, and a read-only one cannot.
            try reader.withLock { reader in
                try reader.queue?.close()
                reader = Reader(isClosed: true)
            }
            writer.writeWithoutTransaction { _ in openWriters = nil }
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
    public func beginPage() throws -> any PageTransaction {
        try SQLiteStore.translating("beginning a page") {
            try writer.writeWithoutTransaction { db in
                try db.beginTransaction(.immediate)
                do {
                    try writers.refresh()
                } catch {
                    try? db.rollback()
                    throw error
                }
                return SQLitePageTransaction(self)
            }
        }
    }

    /// The statements, which live until the file is closed: nobody else may keep them.
    var writers: Writers {
        get throws {
            guard let openWriters else { throw Self.closed }
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

/// The prepared statements of a model, made once per connection.
final class Writers {
    let stubs: StubTable
    let changes: ChangeLog
    let progress: ProgressTable
    let quarantine: QuarantineWriter
    let unknownFields: UnknownFieldTable
    private let model: CompiledModel
    private let connection: OpaquePointer?
    private let dataVersion: RawStatement
    private var seenVersion: Int64 = 0
    private var entities: [EntityWriter?]
    private var links: [[Int]: LinkWriter] = [:]

    init(_ model: CompiledModel, on connection: OpaquePointer?) throws {
        self.model = model
        self.connection = connection
        entities = Array(repeating: nil, count: model.entities.count)
        stubs = try StubTable(on: connection, entities: model.entities.map(\.name))
        changes = try ChangeLog(on: connection, entityCount: model.entities.count)
        progress = try ProgressTable(on: connection)
        quarantine = try QuarantineWriter(on: connection)
        unknownFields = UnknownFieldTable(on: connection)
        dataVersion = try RawStatement("PRAGMA data_version", on: connection)
    }

    /// Reads again what is kept in memory, if another process has written since; call it inside a transaction.
    func refresh() throws {
        _ = try dataVersion.step()
        let version = dataVersion.int64(0)
        dataVersion.reset()
        guard version != seenVersion else { return }
        try stubs.reload(model.entities.map(\.name))
        unknownFields.forget()
        seenVersion = version
    }

    /// The writer of the table of an entity.
    func entity(_ index: Int) throws -> EntityWriter {
        let index = model.entities[index].root
        if let writer = entities[index] { return writer }
        let writer = try EntityWriter(model.entities[index], on: connection, stubs: stubs, changes: changes)
        entities[index] = writer
        return writer
    }

    func links(_ entity: Int, _ relationship: Int) throws -> LinkWriter {
        let entity = model.entities[entity].root
        if let writer = links[[entity, relationship]] { return writer }
        let layout = model.entities[entity]
        let writer = try LinkWriter(
            layout.toMany[relationship], of: layout, model, on: connection, changes: changes)
        links[[entity, relationship]] = writer
        return writer
    }
}
