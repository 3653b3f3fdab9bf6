internal import StoreContract
internal import SystemCalls

/// The file of a watch's database, which other programs may move, delete or replace meanwhile.
///
/// A server's database has no file: it never changes.
struct WatchedFile {
    /// What became of the file.
    enum Change: Equatable {
        /// The path leads to no file any more.
        case removed
        /// The path leads to another file.
        case replaced
        /// After ``removed``, the path leads to a new file.
        case made
        /// After ``removed``, the path leads to the same file again.
        case returned

        /// What a watch says about it.
        func words(_ path: String) -> String {
            let fate =
                switch self {
                case .removed:
                    "the database was moved or deleted while the watch runs; unless it is put back, the next sync makes "
                        + "a new one, and edits that were waiting in the old one are not sent"
                case .replaced:
                    "the database was replaced by another file; the watch goes on with this one, and edits that were "
                        + "waiting only in the old one are not sent"
                case .made:
                    "the database was moved or deleted, and a new one was made in its place; the watch goes on with the "
                        + "new one, and edits that were waiting in the old one are not sent"
                case .returned: "the database is back; the watch goes on with it"
                }
            return "\(path): \(fate)"
        }
    }

    private var known: FileIdentity?
    private var isMissing = false

    /// - Parameter known: The file that was opened; nil for a server's database.
    init(_ known: FileIdentity?) { self.known = known }

    /// Returns what became of the file since the last call; nil if it is the same.
    ///
    /// - Parameter now: The file to which the path leads now; nil for none.
    mutating func change(to now: FileIdentity?) -> Change? {
        let wasMissing = isMissing
        isMissing = now == nil && known != nil
        guard let now else { return isMissing && !wasMissing ? .removed : nil }
        guard now != known else { return wasMissing ? .returned : nil }
        known = now
        return wasMissing ? .made : .replaced
    }
}

/// The write-ahead log beside a watch's database, which SQLite would replay into another file in its place.
struct WatchedLog {
    private var known: FileIdentity?
    /// The log of the known file; nil for none.
    private var own: FileIdentity?
    /// The log of an earlier file, which is still beside the present one.
    private var stale: FileIdentity?

    /// - Parameter known: The file that was opened; nil for a server's database.
    init(_ known: FileIdentity?) { self.known = known }

    /// Returns whether the log belongs to an earlier file of the database.
    ///
    /// - Parameters:
    ///   - log: The log now; nil for none. Determine it before the database.
    ///   - database: The file to which the path leads now; nil for none.
    mutating func isStale(_ log: FileIdentity?, beside database: FileIdentity?) -> Bool {
        // Without a database, the log waits for the next file.
        guard let database else { return false }
        if database != known {
            if let own, own == log { stale = own }
            known = database
        }
        if stale != log { stale = nil }
        own = log
        return stale != nil
    }
}

/// The file of a watch's database, as all tasks of the watch see it.
final class WatchedDatabase: Sendable {
    let path: String
    private let file: Mutex<WatchedFile>
    private let log: Mutex<WatchedLog>

    /// - Parameter opened: The file that was opened; nil for a server's database.
    init(_ path: String, _ opened: FileIdentity?) {
        self.path = path
        file = Mutex(WatchedFile(opened))
        log = Mutex(WatchedLog(opened))
        _ = hasStaleLog()
    }

    /// Returns once what became of the file; nil if nothing did.
    func change() -> String? {
        _ = hasStaleLog()
        let now = FileIdentity(path)
        return file.withLock { $0.change(to: now) }?.words(path)
    }

    /// Refuses to open the database beside the write-ahead log of an earlier file, which would corrupt it.
    ///
    /// - Throws: `StoreError`.
    func refuseStaleLog() throws {
        guard hasStaleLog() else { return }
        throw StoreError(
            .open, "\(path): it was replaced, but \(path)-wal still belongs to the old file",
            remedy: "delete \(path)-wal and \(path)-shm, then put the copy in place again")
    }

    private func hasStaleLog() -> Bool {
        log.withLock { log in
            let now = FileIdentity(path + "-wal")
            return log.isStale(now, beside: FileIdentity(path))
        }
    }
}
