internal import Mapping
internal import StoreContract
internal import StoreRules
internal import SystemCalls

/// A store over a schema of a PostgreSQL database; ``PostgreSQLStores`` opens it.
final class PostgreSQLStore: TableStore, @unchecked Sendable {
    typealias Tables = PostgreSQLTables

    // Sendable because the state is accessed under its lock only; the tables of the open page belong to the thread that
    // writes it.
    private struct State {
        var shared = TableStoreState<PostgreSQLTables>()
        var writer: Connection
        /// The connections for reading that no call uses at the moment.
        var readers: [Connection] = []
        var savedScans: [ScanScope: SavedPlace] = [:]
        var work = Work()
        /// Whether the next page will probably only repeat batches.
        var expectsRepeats = false

        /// Ends a committed transaction.
        ///
        /// The next one begins with its run and its scans, so they change together.
        mutating func end(_ run: RunState, _ page: (writer: TablePageWriter, saved: [ScanScope: SavedPlace])?) {
            shared.end()
            shared.run = run
            guard let page else { return }
            expectsRepeats = page.writer.batches?.onlyRepeats ?? false
            shared.scans.take(page.writer.followed, from: page.writer.scans)
            savedScans.merge(page.saved, uniquingKeysWith: { $1 })
        }
    }

    let location: DatabaseLocation
    let sql: DatabaseSQL
    private let use: StoreUse
    private let schemaVersion: Int64
    /// A name that no other store has.
    private let name = RandomUUID.text()
    private let state: Monitor<State>
    let watcher: ChangeWatcher
    /// The batches of listings; nil if the store remembers none.
    let remembered: RememberedListings?

    var model: CompiledModel { sql.model }
    var isRehearsal: Bool { use == .rehearsing }

    /// The statements before those of a transaction that writes; see ``Bookkeeping``.
    ///
    /// - Parameter lease: The lease of a worker: the server ends a transaction that is idle for as long, so that it does not
    ///   keep the others from writing.
    static func beginning(_ sql: DatabaseSQL, lease: Duration? = nil) -> [String] {
        let seconds = lease?.components.seconds ?? 0
        let limit = lease == nil ? [] : ["SET LOCAL idle_in_transaction_session_timeout = '\(seconds)s'"]
        return ["BEGIN \(sql.engine.isolation)", "SET LOCAL lock_timeout = '\(30 + 2 * seconds)s'"] + limit
            + [sql.writerLock]
    }

    /// Opens a schema whose tables fit the model.
    ///
    /// - Parameter connection: A connection, in a dry run with its open transaction.
    init(_ connection: Connection, _ sql: DatabaseSQL, for use: StoreUse) throws {
        self.sql = sql
        self.use = use
        location = connection.location
        schemaVersion = try PostgreSQLTables(connection, sql).counters.schemaVersion
        state = Monitor(State(writer: connection))
        watcher = ChangeWatcher(location, sql)
        let remembers = use == .writing && sql.engine.hasWriters
        remembered = remembers ? RememberedListings(location, sql.model) : nil
    }

    deinit { try? close() }

    func withState<Result>(_ body: (inout TableStoreState<PostgreSQLTables>) throws -> Result) rethrows -> Result {
        try state.withLock { try body(&$0.shared) }
    }

    /// Closes the store; an open page is rolled back, and sequences of changes end.
    func close() throws {
        let (before, writer) = state.withLock { state in
            state.readers = []
            return (state.shared.close(), state.writer)
        }
        guard let before else { return }
        watcher.finish()
        // What is not kept is compared the next time.
        if (try? writer.finishSent()) != nil, writer.isAlive, !writer.isInTransaction {
            try? remembered?.save(over: PostgreSQLTables(forOneQuery: writer, sql))
        }
        writer.end(after: forgettingOutcome)
        before.lock?.release()
    }

    /// The statement that removes what only this store would ask for; nil if it has nothing.
    private var forgettingOutcome: String? {
        guard !sql.engine.hasTransactionStatus, use == .writing else { return nil }
        return "DELETE FROM \(sql.own("bmo_outcomes")) WHERE store = \(Identifier.literal(name))"
    }

    /// How much of the state of open scans is saved.
    var savedScans: [ScanScope: SavedPlace] {
        get { state.withLock { $0.savedScans } }
        set { state.withLock { $0.savedScans = newValue } }
    }

    /// The work that the store shares with others.
    var work: Work {
        get { state.withLock { $0.work } }
        set { state.withLock { $0.work = newValue } }
    }

    // MARK: - Reading

    /// Four tries: a connection that was idle may have been ended by the server long ago.
    private static let readRetry = TransientRetry(tries: 4, firstPause: 50)

    /// Runs `body` over the committed state; in a dry run, over what this store has written too.
    ///
    /// If the connection is lost before `body` begins, which it is where the server has ended an idle one, another
    /// connection is made. `body` itself is not repeated, as its caller may have taken a part of the result already.
    ///
    /// - Throws: ``StoreError`` when the store is closed, or when the connection is lost while `body` runs.
    func read<Result>(_ body: (PostgreSQLTables) throws -> Result) throws -> Result {
        if isRehearsal { return try body(try PostgreSQLTables(writer(), sql)) }
        let (connection, tables) = try Self.readRetry.run { try beginReading() }
        defer { giveBack(connection) }
        let result = try body(tables)
        do {
            try connection.run("COMMIT")
        } catch {
            // Without the connection the snapshot is gone, but what it has shown was one state of the database.
            guard !connection.isAlive else { throw error }
        }
        return result
    }

    /// Begins a transaction that only reads.
    private func beginReading() throws -> (Connection, PostgreSQLTables) {
        let connection = try reader()
        do {
            try connection.run("BEGIN \(sql.engine.isolation), READ ONLY; SET LOCAL lock_timeout = '30s'")
            return (connection, try PostgreSQLTables(connection, sql))
        } catch {
            giveBack(connection)
            throw error
        }
    }

    /// Runs `body` without a transaction: the one query that it makes has a snapshot of its own.
    ///
    /// If the connection is lost, `body` runs again over another one; it has no effects.
    func readOnce<Result>(_ body: (PostgreSQLTables) throws -> Result) throws -> Result {
        if isRehearsal { return try read(body) }
        return try Self.readRetry.run {
            let connection = try reader()
            defer { giveBack(connection) }
            return try body(PostgreSQLTables(forOneQuery: connection, sql))
        }
    }

    /// Takes a connection that no other call uses: `body` of one call may make another.
    private func reader() throws -> Connection {
        let idle = try state.withLock { state in
            try state.shared.checkOpen()
            return state.readers.popLast()
        }
        if let idle, idle.isAlive { return idle }
        let new = try Connection.again(location, engine: sql.engine)
        try new.send(["SET lock_timeout = '30s'"], isLast: true, for: "setting up the connection")
        return new
    }

    /// Runs `body`, each of whose statements is a transaction of its own and waits for no other transaction.
    func apart(_ body: (Connection) throws -> Void) throws {
        let connection = try reader()
        defer { giveBack(connection) }
        try body(connection)
    }

    /// Keeps a connection for the next call; if it is lost, the idle ones are given up, too.
    private func giveBack(_ connection: Connection) {
        if connection.isAlive, connection.isInTransaction { try? connection.run("ROLLBACK") }
        let isAlive = connection.isAlive
        let ended = state.withLock { state -> [Connection] in
            guard isAlive else {
                // What ended this one, such as a restart, has probably ended those, too.
                defer { state.readers = [] }
                return state.readers
            }
            if !state.shared.isClosed { state.readers.append(connection) }
            return []
        }
        // They are closed here and not under the lock, as that may take a round trip.
        withExtendedLifetime(ended) {}
    }

    // MARK: - Transactions

    private func writer() throws -> Connection {
        let writer = try state.withLock { state in
            try state.shared.checkOpen()
            return state.writer
        }
        // A dry run lost its transaction with the connection.
        guard !writer.isAlive, !isRehearsal else { return writer }
        let new = try Connection.again(location)
        state.withLock { $0.writer = new }
        return new
    }

    /// Begins a transaction of this store.
    ///
    /// - Throws: ``StoreError``: `busy` if another store is writing for too long.
    private func begin() throws -> PostgreSQLTables {
        try openTables { PostgreSQLTables($0, sql, try beginTransaction(over: $0)) }
    }

    /// Begins a page; if it will probably only repeat batches, its transaction begins when its tables are used.
    func beginPageTransaction() throws -> PostgreSQLTables {
        if let hasBatches = try checkMemories() { state.withLock { $0.expectsRepeats = hasBatches } }
        guard state.withLock({ $0.expectsRepeats }) else { return try begin() }
        return try openTables { connection in
            // The page keeps the store.
            try PostgreSQLTables(connection, sql) { [unowned self] before in
                guard try beginTransaction(over: connection) != before else { return }
                // What the page has decided by the state may be wrong: it is written again, in a transaction at once.
                state.withLock { $0.expectsRepeats = false }
                throw StoreError(
                    .busy, "\(connection.place): another process has written since the page began",
                    remedy: "run the command again", isTransient: true)
            }
        }
    }

    /// Makes the tables of this store's next transaction, and checks what they know of the database.
    private func openTables(_ makeTables: (Connection) throws -> PostgreSQLTables) throws -> PostgreSQLTables {
        try state.withLock { try $0.shared.begin(use, at: $0.writer.place) }
        do {
            let connection = try writer()
            let tables = try makeTables(connection)
            guard tables.counters.schemaVersion == schemaVersion else {
                throw tablesChanged(at: connection.place)
            }
            let isOutdated = state.withLock { state in
                let isOutdated = state.shared.note(commits: tables.counters.version)
                if isOutdated { state.expectsRepeats = false }
                return isOutdated
            }
            if isOutdated { remembered?.forgetAll() }
            if let claim = work.claim {
                guard let shared = try tables.run(of: claim, run) else { throw Self.superseded(claim) }
                run = shared
            }
            return tables
        } catch {
            rollBack()
            throw error
        }
    }

    /// Begins the transaction of a connection, and checks that the store still holds the database's lock.
    private func beginTransaction(over connection: Connection) throws -> PostgreSQLTables.State {
        let lock = withState { $0.lock }
        (lock as? SessionLock)?.ask()
        try connection.send(
            isRehearsal ? ["SAVEPOINT bmo_page"] : Self.beginning(sql, lease: work.worker?.lease),
            for: "beginning a transaction")
        if let lock = lock as? LeaseLock, try !lock.isHeld(in: connection) { throw lostLock(at: connection.place) }
        let state = try PostgreSQLTables.State(over: connection, sql)
        // A lock that was lost with its connection may be another sync's.
        if let lock = lock as? SessionLock, !lock.isHeld { throw lostLock(at: connection.place) }
        return state
    }

    private func lostLock(at place: String) -> StoreError {
        StoreError(
            .io, "\(place): the connection was lost, and with it the lock of the database",
            remedy: "run the command again")
    }

    /// Writes what a transaction has changed, and commits it.
    ///
    /// - Parameters:
    ///   - writer: The writer of the transaction, with its run and the roots of the entities whose rows changed.
    ///   - page: The page's writer, and how much of its scans is saved then.
    func commit(
        _ tables: PostgreSQLTables, _ writer: TableWriter,
        _ page: (writer: TablePageWriter, saved: [ScanScope: SavedPlace])? = nil
    ) throws {
        let (run, touched) = (writer.run, writer.touched)
        var number = ""
        let entities = Set(touched.flatMap(model.family(of:)).map { model.entities[$0].name })
        if tables.isDue { return state.withLock { $0.end(run, page) } }
        do {
            try tables.flush(isLast: true)
            if work.claim != nil, run.differs(from: self.run) { try tables.save(run) }
            if tables.hasWritten { number = try tables.saveCounters(changed: entities, by: name) }
            guard !isRehearsal else {
                try tables.connection.run("RELEASE SAVEPOINT bmo_page")
                return state.withLock { $0.end(run, page) }
            }
        } catch {
            rollBack()
            throw error
        }
        try watcher.committing(entities) {
            do {
                try tables.connection.commit(waits: tables.hasWritten)
            } catch {
                defer { rollBack() }
                guard try wasCommitted(number, over: tables.connection) else { throw error }
            }
        }
        state.withLock { state in
            state.end(run, page)
            if tables.hasWritten { state.shared.ownCommits += 1 }
        }
        remembered?.committed(touched, by: page?.writer.batches?.memory, number: number)
    }

    /// Returns whether a transaction took effect whose COMMIT got no answer.
    ///
    /// - Parameter number: The transaction's number; empty if it wrote nothing.
    /// - Throws: `StoreError` that is not transient if the server cannot be asked.
    private func wasCommitted(_ number: String, over connection: Connection) throws -> Bool {
        guard !connection.isAlive, !number.isEmpty else { return false }
        do {
            return try TransientRetry(tries: 5, firstPause: 200).run {
                let other = try Connection.again(location)
                // The server's process of the old connection holds this lock until its commit has ended.
                try other.send(Self.beginning(sql), for: "waiting for the commit")
                defer { try? other.run("ROLLBACK") }
                guard try wasCommitted(number, asSeenBy: other) else { return false }
                state.withLock { $0.writer = other }
                return true
            }
        } catch {
            guard var unknown = error as? StoreError else { throw error }
            (unknown.isTransient, unknown.mayHaveCommitted) = (false, true)
            throw unknown
        }
    }

    private func wasCommitted(_ number: String, asSeenBy other: Connection) throws -> Bool {
        guard sql.engine.hasTransactionStatus else {
            return try other.query(
                "SELECT EXISTS (SELECT 1 FROM \(sql.own("bmo_outcomes")) WHERE store = $1::text AND number::text = $2::text)",
                [.text(name), .text(number)], for: "asking for the commit"
            ).boolean(0, 0)
        }
        return try other.query(
            "SELECT pg_xact_status($1::text::xid8)", [.text(number)], for: "asking for the commit"
        ).text(0, 0) == "committed"
    }

    /// Rolls a transaction back.
    func rollBack() {
        let (wasOpen, writer) = state.withLock { ($0.shared.end(), $0.writer) }
        writer.abandonSent()
        guard wasOpen, writer.isAlive else { return }
        // If this fails, the server rolls back when the connection closes.
        if isRehearsal {
            try? writer.run("ROLLBACK TO SAVEPOINT bmo_page; RELEASE SAVEPOINT bmo_page")
        } else if writer.isInTransaction {
            try? writer.run("ROLLBACK")
        }
    }

    func transaction<Result>(_ body: (TableWriter, PostgreSQLTables) throws -> Result) throws -> Result {
        // A dry run has lost all that it wrote.
        try isRehearsal ? writeOnce(body) : TransientRetry.usual.run { try writeOnce(body) }
    }

    private func writeOnce<Result>(_ body: (TableWriter, PostgreSQLTables) throws -> Result) throws -> Result {
        let tables = try begin()
        let writer = TableWriter(tables, run: run)
        let result: Result
        do {
            result = try body(writer, tables)
        } catch {
            rollBack()
            throw error
        }
        try commit(tables, writer)
        return result
    }

    // MARK: - Locks and changes

    func isLocked(for purpose: LockPurpose) throws -> Bool {
        try read { try SessionLock.holder(of: purpose, over: $0.connection) } != nil
    }

    /// Returns a number that changes when another store commits.
    func dataVersion() throws -> Int64 {
        let before = withState { $0.ownCommits }
        return try read { $0.counters.version } - before
    }

    func subscribe(to entities: [Int], every interval: Duration) throws -> ChangeSubscription {
        guard isClosed else { return try watcher.subscribe(Set(entities), every: interval) }
        let ended = ChangeSubscription([], every: interval)
        ended.finish()
        return ended
    }
}
