internal import GRDB
internal import StoreContract
internal import SystemCalls

/// The connection of a writing store that sees committed data only, opened on first use.
final class ReadConnection: Sendable {
    private let open: @Sendable () throws -> DatabaseQueue
    private let state = Mutex<State>(.unused)

    private enum State {
        case unused
        case open(Open)
        case closed
    }

    /// An open connection with the statements that have been prepared on it.
    private final class Open: @unchecked Sendable {
        let queue: DatabaseQueue
        // The queue serialises this: it is used only inside its accesses.
        private var statements: StatementCache?

        init(_ queue: DatabaseQueue) { self.queue = queue }

        /// Finalizes the statements of a store that was dropped without being closed before the connection closes.
        deinit { statements = nil }

        func statements(on db: Database) -> StatementCache {
            let cache = statements ?? StatementCache(on: db.sqliteConnection)
            statements = cache
            return cache
        }

        /// Closes the connection; SQLite keeps one open as long as it has statements.
        func close() throws {
            queue.inDatabase { _ in statements = nil }
            try queue.close()
        }
    }

    /// The error of a use after the store was closed.
    static let closed = StoreError(.internal, "the database is closed")

    /// - Parameter open: Opens the file for reading.
    init(_ open: @escaping @Sendable () throws -> DatabaseQueue) { self.open = open }

    /// Whether ``close()`` was called.
    var isClosed: Bool { state.withLock { if case .closed = $0 { true } else { false } } }

    /// Runs `body` in a read transaction, with statements that are kept for the next call.
    ///
    /// - Throws: `StoreError` if the connection is closed; errors of GRDB and of `body`.
    func read<Result>(_ body: (Database, StatementCache) throws -> Result) throws -> Result {
        let connection = try state.withLock { state in
            switch state {
            case .open(let connection): return connection
            case .closed: throw Self.closed
            case .unused:
                let connection = Open(try open())
                state = .open(connection)
                return connection
            }
        }
        return try connection.queue.read { db in try body(db, connection.statements(on: db)) }
    }

    /// Closes the connection; later reads fail.
    func close() throws {
        try state.withLock { state in
            if case .open(let connection) = state { try connection.close() }
            state = .closed
        }
    }
}
