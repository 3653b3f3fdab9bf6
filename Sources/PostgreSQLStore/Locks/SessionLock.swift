internal import Glibc
internal import StoreContract
internal import SystemCalls

/// A lock of a database: an advisory lock of a connection of its own.
///
/// The server releases it when the connection ends, however the process dies. It needs no table, so that a database that
/// does not exist yet can be locked.
final class SessionLock: StoreLock {
    private let connection: Mutex<Connection?>

    private init(_ connection: Connection) { self.connection = Mutex(connection) }

    /// Closes the connection, which releases the lock; later calls do nothing.
    func release() { connection.withLock { $0 = nil } }

    /// Asks the server whether the connection still exists, without waiting for the answer.
    func ask() { connection.withLock { try? $0?.send(["SELECT 1"], isLast: true) } }

    /// Whether the connection, and so the lock, existed when the server was last asked.
    var isHeld: Bool {
        connection.withLock { connection in connection.map { (try? $0.finishSent()) != nil && $0.isAlive } ?? false }
    }

    /// Takes a lock without waiting.
    ///
    /// - Parameter isShared: Whether others can hold it at the same time, if they share it too.
    static func attempt(
        _ location: DatabaseLocation, for purpose: LockPurpose, isShared: Bool = false, command: String
    ) throws -> LockAttempt {
        try LockAttempts().next(location, for: purpose, isShared: isShared, command: command)
    }

    /// Connects for attempts to take a lock.
    static func connect(_ location: DatabaseLocation, command: String) throws -> Connection {
        let connection = try Connection(location, name: name(command))
        if connection.engine.hasLocks { try checkPooler(connection) }
        return connection
    }

    /// Takes a lock without waiting, over a connection that the lock then keeps.
    static func attempt(
        over connection: Connection, for purpose: LockPurpose, isShared: Bool, command: String
    ) throws -> LockAttempt {
        guard connection.engine.hasLocks else {
            return try LeaseLock.attempt(over: connection, for: purpose, isShared: isShared, name: name(command))
        }
        let (first, second) = numbers(connection.location.schema, purpose)
        // The connection's name says since when its process has the lock, and not since when it has waited.
        let result = try connection.query(
            """
            SELECT pg_try_advisory_lock\(isShared ? "_shared" : "")(\(first), \(second)),
                set_config('application_name', $1::text, false)
            """, [.text(name(command))], for: "taking the database lock")
        return result.boolean(0, 0)
            ? .taken(SessionLock(connection)) : .held(by: try holder(of: purpose, over: connection))
    }

    /// Refuses a pooler that runs each transaction in another session: a lock would not be this process's.
    ///
    /// A pooler makes up the number of the server's process. It has no way to ask for its mode: so two connections are
    /// looked at; behind a pooler, the second one gets the session of the first one if that was given back.
    private static func checkPooler(_ connection: Connection) throws {
        func process(_ connection: Connection) throws -> Int64? {
            try connection.query("SELECT pg_backend_pid()::bigint", for: "asking for the session").bigint(0, 0)
        }
        let first = try process(connection)
        guard first != Int64(connection.serverProcess) else { return }
        for _ in 0..<3 {
            let other = try Connection(connection.location)
            try other.run("BEGIN")
            guard try process(other) != first, try process(connection) == first else {
                throw StoreError(
                    .open, "\(connection.place): a pooler gives each transaction another session",
                    remedy: "connect to the server itself, or set pool_mode = session in the pooler")
            }
        }
    }

    /// Returns the holder of a lock; nil if it is free.
    static func holder(of purpose: LockPurpose, over connection: Connection) throws -> LockHolder? {
        guard connection.engine.hasLocks else {
            return try LeaseLock.holderName(of: purpose, over: connection).flatMap(holder(name:))
        }
        let (first, second) = numbers(connection.location.schema, purpose)
        let result = try connection.query(
            """
            SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
            WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
                AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND l.classid::bigint = \(UInt32(bitPattern: first))
                AND l.objid::bigint = \(UInt32(bitPattern: second)) LIMIT 1
            """, for: "asking who holds the lock")
        return result.count == 0 ? nil : holder(name: result.text(0, 0) ?? "")
    }

    /// The numbers of the lock: "bmo1", and a hash of the schema and the purpose.
    private static func numbers(_ schema: String, _ purpose: LockPurpose) -> (Int32, Int32) {
        let hash = Identifier.hash("\(schema) \(purpose == .writing ? "writing" : "pushing")")
        return (0x626D_6F31, Int32(truncatingIfNeeded: hash))
    }

    // MARK: - The holder

    /// The name of the lock's connection: `bmo PID SECONDS HOST COMMAND`, cut to the 63 bytes that the server keeps.
    private static func name(_ command: String) -> String {
        let host = hostName.prefix { $0 != "." }.prefix(16)
        let words = "bmo \(getpid()) \(time(nil)) \(host) \(command)"
        return String(words.map { $0.isASCII && !$0.isNewline ? $0 : "?" }.prefix(Identifier.longest))
    }

    private static func holder(name: String) -> LockHolder? {
        let parts = name.split(separator: " ", maxSplits: 4)
        guard parts.count == 5, let pid = Int32(parts[1]), let seconds = Int64(parts[2]) else { return nil }
        return LockHolder(
            pid: pid, host: String(parts[3]), command: String(parts[4]),
            since: Clock.text(secondsAgo: Int64(time(nil)) - seconds))
    }

    private static var hostName: String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
