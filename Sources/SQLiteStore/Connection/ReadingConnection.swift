internal import GRDB
internal import StoreContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Connections to files for reading, including files without write permission.
enum ReadingConnection {
    /// Opens a connection that leaves the file at `path` unchanged.
    ///
    /// The connection is not read-only if it can be otherwise: a read-only connection cannot remove the files that it
    /// creates beside a file in WAL mode.
    static func open(_ path: String) throws -> DatabaseQueue {
        guard access(path, F_OK) == 0 else {
            throw StoreError(.open, "there is no such file", remedy: "`bmo sync` creates it")
        }
        do {
            return try opened(path, isReadOnly: false)
        } catch let error as DatabaseError
            where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode) && access(path, R_OK) == 0
            && !hasTooManyOpenFiles()
        {
            return try openUnwritable(path)
        }
    }

    /// Opens a file in WAL mode in a read-only folder, which SQLite can read only as an immutable file.
    private static func openUnwritable(_ path: String) throws -> DatabaseQueue {
        var wal = stat()
        // The newest pages are in the WAL, which SQLite would ignore.
        guard stat("\(path)-wal", &wal) != 0 || wal.st_size == 0 else {
            throw StoreError(
                .open, "it is being written, or a write was interrupted, and its folder cannot be written from here",
                remedy: "copy the file and \(path)-wal to a folder of yours and read them there, or try again when "
                    + "no program writes")
        }
        let special: [(String, String)] = [("%", "%25"), ("?", "%3f"), ("#", "%23")]
        let escaped = special.reduce(path) { $0.replacing($1.0, with: $1.1) }
        return try opened("file:\(escaped)?immutable=1", isReadOnly: true)
    }

    private static func opened(_ path: String, isReadOnly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "bmo reading"
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(ConnectionSettings.lockTimeout)
        configuration.prepareDatabase { db in
            try DecimalCollation.add(to: db)
            try db.execute(sql: ConnectionSettings.pageCache)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // SQLite opens the file at the first statement.
        _ = try queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
        return queue
    }
}
