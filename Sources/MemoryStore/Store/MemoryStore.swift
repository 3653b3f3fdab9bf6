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
        var shared = TableStoreState<MemoryTables>()
        /// What a dry run has written.
        var rehearsed: DatabaseState?
    }

    let database: MemoryDatabase
    let model: CompiledModel
    private let use: StoreUse
    private let state = Monitor(State())

    private var id: ObjectIdentifier { ObjectIdentifier(self) }
    var isRehearsal: Bool { use == .rehearsing }

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

    func withState<Result>(_ body: (inout TableStoreState<MemoryTables>) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0.shared) }
    }

    /// Closes the store; an open page is rolled back, and sequences of changes end.
    func close() throws {
        let before = state.withLock { state in
            state.rehearsed = nil
            return state.shared.close()
        }
        guard let open = before else { return }
        if isRehearsal || open.page != nil { database.end(id, nil) }
        database.endSubscriptions(of: id)
        open.lock?.release()
    }

    // MARK: - Reading

    /// Returns the committed state; in a dry run, what this store has written too.
    ///
    /// - Throws: ``StoreError`` when the store is closed.
    private func snapshot() throws -> DatabaseState {
        let rehearsed = try state.withLock { state in
            try state.shared.checkOpen()
            return state.shared.page?.state ?? state.rehearsed
        }
        return (isRehearsal ? rehearsed : nil) ?? database.state.fitted(to: model)
    }

    func read<Result>(_ body: (MemoryTables) throws -> Result) throws -> Result {
        try body(MemoryTables(try snapshot(), model))
    }

    // MARK: - Transactions

    /// Begins a transaction of this store.
    ///
    /// - Throws: ``StoreError``: `busy` if another store is writing for too long.
    func begin() throws -> MemoryTables {
        let rehearsed = try state.withLock { state in
            try state.shared.begin(use, at: database.location)
            return state.rehearsed
        }
        do {
            let begun = try rehearsed ?? database.begin(id)
            guard begun.schema == DatabaseSchema(model) else {
                if !isRehearsal { database.end(id, nil) }
                throw tablesChanged(at: database.location)
            }
            return MemoryTables(begun, model)
        } catch {
            withState { _ = $0.end() }
            throw error
        }
    }

    func beginPageTransaction() throws -> MemoryTables { try begin() }

    /// Commits a transaction.
    ///
    /// - Parameter touched: The roots of the entities whose rows changed.
    private func commit(_ tables: MemoryTables, touched: Set<Int>) {
        state.withLock { state in
            state.shared.end()
            if isRehearsal { state.rehearsed = tables.state } else { state.shared.ownCommits += 1 }
        }
        guard !isRehearsal else { return }
        let names = touched.flatMap(model.family(of:)).map { model.entities[$0].name }
        database.end(id, tables.state, changed: Set(names))
    }

    /// Rolls a transaction back.
    func rollBack() {
        if withState({ $0.end() }), !isRehearsal { database.end(id, nil) }
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
    func dataVersion() -> Int64 { database.version - withState { $0.ownCommits } }

    /// Returns a subscription, which is notified of every commit at once.
    func subscribe(to entities: [Int], every interval: Duration) -> ChangeSubscription {
        let subscription = ChangeSubscription(Set(entities), every: interval)
        let names = Dictionary(entities.map { (model.entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        if isClosed { subscription.finish() } else { database.add(subscription, of: id, entities: names) }
        return subscription
    }
}
