internal import Glibc
internal import StoreContract
internal import SystemCalls

/// A lock of a database whose engine has no locks of sessions: a row of `bmo_locks` with a lease, which a thread renews.
///
/// A lock whose holder died can be taken when its lease has ended. A process that takes it first changes the row that
/// each transaction that writes locks, so that a page of the former holder is either committed before, or refused: see
/// ``isHeld(in:)``. Leases end by the server's clock.
final class LeaseLock: StoreLock {
    private struct State {
        var connection: Connection?
    }

    private let state: Monitor<State>
    private let table: String
    /// The row's owner: no two locks have the same.
    private let holder: String

    private init(_ connection: Connection, _ table: String, _ holder: String) {
        state = Monitor(State(connection: connection))
        (self.table, self.holder) = (table, holder)
    }

    deinit { release() }

    /// Gives the lock back; later calls do nothing.
    func release() {
        let connection = state.change { state in
            defer { state.connection = nil }
            return state.connection
        }
        // If this fails, the lease ends by itself.
        _ = try? connection?.query("DELETE FROM \(table) WHERE holder = $1::text", [.text(holder)])
    }

    /// Returns whether the lock is still held, as a transaction sees it that has the lock to write.
    func isHeld(in connection: Connection) throws -> Bool {
        try connection.query(
            "SELECT EXISTS (SELECT 1 FROM \(table) WHERE holder = $1::text)", [.text(holder)],
            for: "checking the database lock"
        ).boolean(0, 0)
    }

    // MARK: - Taking

    /// Takes a lock without waiting.
    static func attempt(
        over connection: Connection, for purpose: LockPurpose, isShared: Bool, name: String
    ) throws -> LockAttempt {
        let table = Identifier.quoted(connection.location.schema) + ".bmo_locks"
        try prepare(connection)
        let lock = LeaseLock(connection, table, RandomUUID.text())
        let isTaken = try TransientRetry.usual.run {
            try connection.run("BEGIN \(connection.engine.isolation)")
            do {
                let isTaken = try lock.take(purpose, isShared, name, over: connection)
                try connection.run("COMMIT", for: "taking the database lock")
                return isTaken
            } catch {
                if connection.isAlive { try? connection.run("ROLLBACK") }
                throw error
            }
        }
        guard isTaken else {
            return .held(by: try SessionLock.holder(of: purpose, over: connection))
        }
        guard lock.startRenewing() else { throw StoreError(.internal, "cannot start a thread to renew a lock") }
        return .taken(lock)
    }

    /// Creates what a lock needs, also in a database that does not exist yet.
    private static func prepare(_ connection: Connection) throws {
        let schema = connection.location.schema
        let exists = try connection.query(
            "SELECT to_regclass($1::text) IS NOT NULL", [.text(Identifier.quoted(schema) + ".bmo_outcomes")],
            for: "looking for the database"
        ).boolean(0, 0)
        guard !exists else { return }
        try connection.run("CREATE SCHEMA IF NOT EXISTS \(Identifier.quoted(schema))", for: "creating the schema")
        for statement in Bookkeeping.locks(in: Identifier.quoted(schema) + ".", connection.engine) {
            try connection.run(statement, for: "creating the bookkeeping")
        }
    }

    private func take(_ purpose: LockPurpose, _ isShared: Bool, _ name: String, over connection: Connection) throws
        -> Bool
    {
        let purpose = Self.name(of: purpose)
        // A transaction that does the same at this moment conflicts with this change, and one of both is run again.
        try Self.change(purpose, table, connection)
        let rows = try connection.query(
            "SELECT is_shared, lease_end < \(PostgreSQLTables.now) FROM \(table) WHERE purpose = $1::text AND holder <> ''",
            [.text(purpose)], for: "reading the database lock")
        let held = (0..<rows.count).filter { !rows.boolean($0, 1) }
        guard held.allSatisfy({ isShared && rows.boolean($0, 0) }) else { return false }
        if held.count < rows.count {
            // No page of a holder whose lease has ended may be under way.
            try Self.change(Bookkeeping.writerLock, table, connection)
            try connection.query(
                "DELETE FROM \(table) WHERE purpose = $1::text AND holder <> '' AND lease_end < \(PostgreSQLTables.now)",
                [.text(purpose)], for: "removing a lock that has ended")
        }
        try connection.query(
            """
            INSERT INTO \(table) (purpose, holder, is_shared, name, lease_end)
            VALUES ($1::text, $2::text, $3::boolean, $4::text, \(PostgreSQLTables.now) + $5::bigint)
            """,
            [
                .text(purpose), .text(holder), .boolean(isShared), .text(name),
                .bigint(EngineProfile.lease.milliseconds),
            ],
            for: "taking the database lock")
        return true
    }

    private static func change(_ purpose: String, _ table: String, _ connection: Connection) throws {
        try connection.query(
            "UPDATE \(table) SET lease_end = lease_end + 1 WHERE purpose = $1::text AND holder = ''", [.text(purpose)],
            for: "taking the database lock")
    }

    private static func name(of purpose: LockPurpose) -> String { purpose == .writing ? "writing" : "pushing" }

    /// Returns how the holder of a lock describes itself; nil if the lock is free.
    static func holderName(of purpose: LockPurpose, over connection: Connection) throws -> String? {
        let table = Identifier.quoted(connection.location.schema) + ".bmo_locks"
        let rows = try connection.query(
            """
            SELECT name FROM \(table) WHERE purpose = $1::text AND holder <> '' AND lease_end >= \(PostgreSQLTables.now)
            ORDER BY lease_end DESC LIMIT 1
            """, [.text(name(of: purpose))], for: "asking who holds the lock")
        return rows.count == 0 ? nil : rows.text(0, 0)
    }

    // MARK: - Renewing

    /// The thread keeps only what it needs, so that a lock that nothing refers to ends.
    private func startRenewing() -> Bool {
        guard let location = state.withLock({ $0.connection?.location }) else { return false }
        let (state, table, holder) = (state, table, holder)
        let pause = Double(EngineProfile.lease.milliseconds) / 3000
        return NativeThread.detach(blocking: .all) {
            while state.wait(seconds: pause, { $0.connection == nil ? true : nil }) == nil {
                guard var connection = state.withLock({ $0.connection }) else { return }
                if !connection.isAlive, let new = try? Connection(location) {
                    state.withLock { if $0.connection != nil { $0.connection = new } }
                    connection = new
                }
                // A lease that could not be renewed in time ends, and the next page is refused.
                _ = try? connection.query(
                    "UPDATE \(table) SET lease_end = \(PostgreSQLTables.now) + $2::bigint WHERE holder = $1::text",
                    [.text(holder), .bigint(EngineProfile.lease.milliseconds)], for: "renewing the database lock")
            }
        }
    }
}
