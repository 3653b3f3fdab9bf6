internal import StoreContract
internal import Dispatch
internal import GRDBSQLite
internal import SystemCalls

/// A background task that moves committed pages from the WAL into the database file while the writer continues.
///
/// SQLite's automatic checkpoint delays the commit that reaches its limit for as long as the disk takes, and the
/// checkpoint of the last connection delays its closing (sqlite.org/wal.html, 3.1 and 3.2). This class runs passive
/// checkpoints, which do not wait for locks, on another connection and its own thread, and runs them more often, so
/// that little work is left for these two. It only saves time: if a checkpoint fails, nothing is lost, and the writer's
/// own checkpoint reports the cause.
final class BackgroundCheckpoint: Sendable {
    /// The number of WAL pages, 4 KiB each, that trigger a background checkpoint.
    private static let step: CInt = 500
    /// The number of WAL pages at which the writer itself runs a checkpoint, like SQLite's `wal_autocheckpoint`.
    ///
    /// This bounds the WAL to 16 MiB plus one page of the bridge. A longer WAL saves nothing, as it also has to be
    /// written and deleted.
    private static let limit: CInt = 4_000

    private struct State {
        /// The number of pages in the WAL.
        var pages: CInt = 0
        /// The number of pages in the WAL when the last checkpoint began.
        var done: CInt = 0
        var isRunning = false
        var isClosed = false

        var isDue: Bool { !isClosed && pages - done >= BackgroundCheckpoint.step }
    }

    /// A separate connection that creates no file and does not wait for locks.
    private final class Connection: @unchecked Sendable {
        // Used only on the queue.
        private var database: OpaquePointer?

        deinit { close() }

        func checkpoint(_ path: String) {
            if database == nil, sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) != SQLITE_OK { close() }
            guard let database else { return }
            // Not `sqlite3_wal_checkpoint_v2`, which does nothing and reports success on a connection that has not read
            // yet.
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

    /// Follows the commits of a connection, which must be closed before this object is released.
    func follow(_ connection: OpaquePointer) {
        sqlite3_wal_hook(
            connection,
            { context, connection, name, pages in
                guard let context else { return SQLITE_OK }
                let checkpoint = Unmanaged<BackgroundCheckpoint>.fromOpaque(context).takeUnretainedValue()
                if pages >= BackgroundCheckpoint.limit {
                    // Only one connection can run a checkpoint at a time: if the other were running, this one would do
                    // nothing and the WAL would keep growing.
                    checkpoint.queue.sync {}
                    // As with the automatic checkpoint, a failure does not affect the commit.
                    sqlite3_wal_checkpoint_v2(connection, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                } else {
                    checkpoint.committed(pages)
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func committed(_ pages: CInt) {
        let isDue = state.withLock { state in
            // The WAL was restarted.
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

    /// Returns whether a checkpoint is due, and counts it as done if so.
    private func begin() -> Bool {
        state.withLock { state in
            state.isRunning = state.isDue
            state.done = state.isDue ? state.pages : state.done
            return state.isRunning
        }
    }

    /// Waits for a running checkpoint and closes the connection, so that the writer's is the last one.
    func close() {
        state.withLock { $0.isClosed = true }
        queue.sync { connection.close() }
    }
}
