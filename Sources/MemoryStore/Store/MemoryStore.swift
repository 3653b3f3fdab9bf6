internal import Mapping
internal import StoreContract
internal import StoreRules
internal import SystemCalls

/// A store over a database in memory; ``MemoryStores`` opens it.
final class MemoryStore: TableStore, @unchecked Sendable {
    typealias Tables = MemoryTables

    // Sendable because the state is accessed under its lock only; the tables of the open page belong to the thread that
    // writes it.
    private struct State {
        var run = RunState()
        var scans = OpenScans()
        /// The tables of the open page.
        var page: MemoryTables?
        /// Whether a transaction other than a page is open.
        var isWriting = false
        /// What a dry run has written.
        var rehearsed: DatabaseState?
        var ownCommits: Int64 = 0
        var isClosed = false
        var lock: (any StoreLock)?
    }

    let database: MemoryDatabase
    let model: CompiledModel
    private let use: StoreUse
    private let state = Monitor(State())

    private var id: ObjectIdentifier { ObjectIdentifier(self) }
    var isRehearsal: Bool { use == .rehearsing }

    private static let closed = StoreError(.internal, "the database is closed")
    private static let onlyRead = StoreError(.internal, "the database was opened for reading")

    /// Opens a database whose tables fit the model; a dry run locks other writers out until it is closed.
    init(_ database: MemoryDatabase, _ model: CompiledModel, for use: StoreUse) throws {
        self.database = database
        self.model = model
        self.use = use
        if isRehearsal {
            let begun = try database.begin(id)
            state.withLock { $0.rehearsed = begun }
        }
    }

    deinit { try? close() }

    /// Whether this store holds the database's lock; see ``keep(_:)``.
    var hasLock: Bool { state.withLock { $0.lock != nil } }

    /// Keeps the database's lock, and releases it when the store is closed.
    func keep(_ lock: any StoreLock) { state.withLock { $0.lock = lock } }

    /// Closes the store; an open page is rolled back, and sequences of changes end.
    func close() throws {
        let open = state.withLock { state -> (page: MemoryTables?, isOpen: Bool, lock: (any StoreLock)?) in
            let before = (state.page, !state.isClosed, state.lock)
            state.isClosed = true
            (state.page, state.lock, state.rehearsed) = (nil, nil, nil)
            return before
        }
        guard open.isOpen else { return }
        if isRehearsal || open.page != nil { database.end(id, nil) }
        database.endSubscriptions(of: id)
        open.lock?.release()
    }

    // MARK: - Reading

    /// Returns the committed state; in a dry run, what this store has written too.
    ///
    /// - Throws: ``StoreError`` when the store is closed.
    private func snapshot() throws -> DatabaseState {
        let (isClosed, rehearsed) = state.withLock { ($0.isClosed, $0.page?.state ?? $0.rehearsed) }
        guard !isClosed else { throw Self.closed }
        return (isRehearsal ? rehearsed : nil) ?? database.state.fitted(to: model)
    }

    func read<Result>(_ body: (MemoryTables) throws -> Result) throws -> Result {
        try body(MemoryTables(try snapshot(), model))
    }

    /// Whether the store was closed.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// The open run.
    var run: RunState {
        get { state.withLock { $0.run } }
        set { state.withLock { $0.run = newValue } }
    }

    /// The scans that have begun.
    var scans: OpenScans { state.withLock { $0.scans } }

    func changeScans(_ body: (inout OpenScans) -> Void) { state.withLock { body(&$0.scans) } }

    // MARK: - Transactions

    /// Begins a transaction of this store.
    ///
    /// - Throws: ``StoreError``: `busy` if another store is writing for too long.
    private func begin() throws -> MemoryTables {
        if case .reading = use { throw Self.onlyRead }
        let rehearsed = try state.withLock { state -> DatabaseState? in
            guard !state.isClosed else { throw Self.closed }
            guard state.page == nil, !state.isWriting else {
                throw StoreError(
                    .busy, "\(database.location): a page of an import is open in this store",
                    remedy: "make edits through another store of the same database")
            }
            state.isWriting = true
            return state.rehearsed
        }
        do {
            let begun = try rehearsed ?? database.begin(id)
            guard begun.schema == DatabaseSchema(model) else {
                if !isRehearsal { database.end(id, nil) }
                throw StoreError(
                    .schema, "\(database.location): the tables were changed since the store was opened",
                    remedy: "open the database again")
            }
            return MemoryTables(begun, model)
        } catch {
            state.withLock { $0.isWriting = false }
            throw error
        }
    }

    /// Commits a transaction.
    ///
    /// - Parameter touched: The roots of the entities whose rows changed.
    private func commit(_ tables: MemoryTables, touched: Set<Int>) {
        state.withLock { state in
            (state.page, state.isWriting) = (nil, false)
            if isRehearsal { state.rehearsed = tables.state } else { state.ownCommits += 1 }
        }
        guard !isRehearsal else { return }
        let names = touched.flatMap(model.family(of:)).map { model.entities[$0].name }
        database.end(id, tables.state, changed: Set(names))
    }

    /// Rolls a transaction back.
    func rollBack() {
        let wasOpen = state.withLock { state in
            defer { (state.page, state.isWriting) = (nil, false) }
            return state.isWriting && !state.isClosed
        }
        if wasOpen, !isRehearsal { database.end(id, nil) }
    }

    var pageTables: MemoryTables? { state.withLock { $0.page } }

    func beginPageTables() throws -> MemoryTables {
        let tables = try begin()
        state.withLock { $0.page = tables }
        return tables
    }

    func commit(_ tables: MemoryTables, _ page: TablePageWriter, positions: [ScanScope: ScanProgress?]) {
        for (scope, progress) in positions {
            let log = page.scans.logs[scope] ?? ScanLog()
            tables.setSavedScan(progress.map { SavedScan(progress: $0, saved: Clock.now(), log: log) }, of: scope)
        }
        run = page.writer.run
        changeScans { $0.take(page.followed, from: page.scans) }
        commit(tables, touched: page.writer.touched)
    }

    func transaction<Result>(_ body: (TableWriter, MemoryTables) throws -> Result) throws -> Result {
        let tables = try begin()
        let writer = TableWriter(tables, run: run)
        do {
            let result = try body(writer, tables)
            run = writer.run
            commit(tables, touched: writer.touched)
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    // MARK: - Locks and changes

    func isLocked(for purpose: LockPurpose) -> Bool {
        !(purpose == .pushing ? database.pushing : database.writing).isFree
    }

    /// Returns a number that changes when another store commits.
    func dataVersion() -> Int64 { database.version - state.withLock { $0.ownCommits } }

    /// Returns a subscription, which is notified of every commit at once.
    func subscribe(to entities: [Int], every interval: Duration) -> ChangeSubscription {
        let subscription = ChangeSubscription(Set(entities), every: interval)
        let names = Dictionary(entities.map { (model.entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        if isClosed { subscription.finish() } else { database.add(subscription, of: id, entities: names) }
        return subscription
    }
}
