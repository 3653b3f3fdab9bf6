internal import Dispatch
internal import GRDBSQLite
internal import Synchronization

/// Moves what is committed from the log (WAL) into the database file while the writer goes on.
///
/// SQLite's automatic checkpoint holds up the commit that reaches its limit for as long as the disk takes, and so does that of the
/// last connection to close (sqlite.org/wal.html, 3.1 and 3.2). Here another connection makes checkpoints of the passive kind, which
/// wait for nobody, on a thread of its own and more often, so that little is left for these two. That saves time and nothing else:
/// where one fails, nothing is lost, and the writer's own meets the reason.
final class BackgroundCheckpoint: Sendable {
    /// So many pages of log, 4 KiB each, are worth a checkpoint beside the writer.
    private static let step: CInt = 500
    /// So many make the writer itself checkpoint, as SQLite's `wal_autocheckpoint` does.
    ///
    /// That bounds the log to 16 MiB and a page of the bridge's. A longer one saves nothing: it has to be written, and deleted, too.
    private static let limit: CInt = 4_000

    private struct State {
        /// The pages that the log has.
        var pages: CInt = 0
        /// Those that it had when the last checkpoint began.
        var done: CInt = 0
        var isRunning = false
        var isClosed = false

        var isDue: Bool { !isClosed && pages - done >= BackgroundCheckpoint.step }
    }

    /// A connection of its own; it makes no file, and waits for nobody.
    private final class Connection: @unchecked Sendable {
        // Used on the queue only.
        private var database: OpaquePointer?

        deinit { close() }

        func checkpoint(_ path: String) {
            if database == nil, sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) != SQLITE_OK { close() }
            guard let database else { return }
            // Not `sqlite3_wal_checkpoint_v2`: on a connection that has read nothing yet it does nothing, and says that all is well.
            sqlite3_exec(database, "PRAGMA wal_checkpoint(PASSIVE)", nil, nil, nil)
        }

        func close() {
            sqlite3_close(database)
            database = nil
        }
    }

    private let path: String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "bmo.checkpoint", qos: .utility)
    private let connection = Connection()

    init(path: String) { self.path = path }

    /// Follows the commits of a connection, which must be closed before this goes.
    func follow(_ connection: OpaquePointer) {
        sqlite3_wal_hook(
            connection,
            { context, connection, name, pages in
                guard let context else { return SQLITE_OK }
                let checkpoint = Unmanaged<BackgroundCheckpoint>.fromOpaque(context).takeUnretainedValue()
                if pages >= BackgroundCheckpoint.limit {
                    // Two cannot checkpoint at a time: with the other at it, this one would do nothing, and the log go on to grow.
                    checkpoint.queue.sync {}
                    // Like the automatic one, it has no say in what becomes of the commit.
                    sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                } else {
                    checkpoint.committed(pages)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func committed(_ pages: CInt) {
        let isDue = state.withLock { state in
            // The log began anew.
            if pages < state.pages { state.done = 0 }
            state.pages = pages
            guard !state.isRunning, state.isDue else { return false }
            state.isRunning = true
            return true
        }
        if isDue { queue.async { [self] in run() } }
    }

    private func run() {
        while begin() { connection.checkpoint(path) }
    }

    /// Whether a checkpoint is worth it; one that is begun counts as made.
    private func begin() -> Bool {
        state.withLock { state in
            state.isRunning = state.isDue
            state.done = state.isDue ? state.pages : state.done
            return state.isRunning
        }
    }

    /// Waits for a checkpoint that runs, and closes the connection: the writer's is the last one then.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync { connection.close() }
    }
}
