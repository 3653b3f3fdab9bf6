internal import StoreContract
internal import SystemCalls

/// A text that the processes of a schema share, with its lock: two rows of the table `bmo_secrets`.
///
/// A transaction that stays open has the lock of one row; the text is in the other, where each save takes effect at once.
/// The server releases the lock when the connection ends, however the process dies, and when the transaction has been idle
/// for too long, as that of a suspended process.
///
/// No copy, backup or comparison reads the table, and it is created when it is first needed.
final class SecretLock: StoredTextLock {
    private let location: DatabaseLocation
    private let place: String
    private let name: String
    private let table: String
    /// The connection with the lock; nil once it has been released.
    private let connection: Mutex<Connection?>
    private let text: Mutex<String?>

    /// Waits for the lock of a text, and takes it.
    init(_ location: DatabaseLocation, name: String) throws {
        self.location = location
        self.name = name
        table = "\(Identifier.quoted(location.schema)).\(Bookkeeping.sharedLogins)"
        let connection = try Connection(location)
        place = connection.place
        try Self.create(table, over: connection)
        let known = try connection.query(
            "SELECT 1 FROM \(table) WHERE name = $1::text AND item = 'lock'", [.text(name)],
            for: "reading shared logins")
        if known.count == 0 {
            try connection.query(
                "INSERT INTO \(table) VALUES ($1::text, 'lock', NULL) ON CONFLICT DO NOTHING", [.text(name)],
                for: "recording a shared login")
        }
        let (wait, hold) = (SharedTextLimits.wait.components.seconds, SharedTextLimits.hold.components.seconds)
        try connection.run(
            """
            BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '\(wait)s'; \
            SET LOCAL idle_in_transaction_session_timeout = '\(hold)s'
            """, for: "locking a shared login")
        do {
            try connection.query(
                "SELECT 1 FROM \(table) WHERE name = $1::text AND item = 'lock' FOR UPDATE", [.text(name)],
                for: "locking a shared login")
        } catch let error as StoreError where error.code == .busy {
            throw SharedTextLimits.busy(place)
        }
        // Where a transaction keeps the view of its first statement, it would not see what was saved while it waited.
        let reader = connection.engine.hasLocks ? connection : try Connection(location)
        text = Mutex(
            try reader.query(
                "SELECT value FROM \(table) WHERE name = $1::text AND item = 'text'", [.text(name)],
                for: "reading a shared login"
            ).text(0, 0))
        self.connection = Mutex(connection)
    }

    deinit { release() }

    /// Creates the table, and the schema, unless they exist.
    private static func create(_ table: String, over connection: Connection) throws {
        let schema = connection.location.schema
        let known = try connection.query(
            """
            SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text AND c.relname = '\(Bookkeeping.sharedLogins)'
            """, [.text(schema)], for: "reading the tables")
        guard known.count == 0 else { return }
        let text = SQLType.text.definition(on: connection.engine)
        let creation = """
            CREATE TABLE IF NOT EXISTS \(table) (name \(text), item \(text), value \(text), PRIMARY KEY (name, item))
            """
        guard connection.engine.hasTransactionalDDL else {
            try connection.run("CREATE SCHEMA IF NOT EXISTS \(Identifier.quoted(schema))", for: "creating the schema")
            return try connection.run(creation, for: "creating the table of shared logins")
        }
        try connection.run("BEGIN; SET LOCAL lock_timeout = '30s'")
        do {
            // Two processes that both find no schema would both create it, and one would fail.
            try connection.query("SELECT pg_advisory_xact_lock(1651339057)", for: "creating the tables")
            try connection.createSchema(schema)
            try connection.run(creation, for: "creating the table of shared logins")
            try connection.run("COMMIT", for: "creating the tables")
        } catch {
            if connection.isAlive { try? connection.run("ROLLBACK") }
            throw error
        }
    }

    var value: String? { text.withLock { $0 } }

    /// A new token that is not saved is lost, so a save waits for a server that is starting again.
    private static let retry = TransientRetry(tries: 8, firstPause: 100)

    func save(_ new: String) throws {
        var failures = 0
        while true {
            do {
                return try saveOnce(new)
            } catch let error as StoreError where [.io, .open].contains(error.code) && failures + 1 < Self.retry.tries {
                failures += 1
                Self.retry.pause(after: failures)
            }
        }
    }

    private func saveOnce(_ new: String) throws {
        // Of its own, as the other connection's transaction ends only with the lock.
        let own = try Connection(location)
        try own.run("SET synchronous_commit = on")
        let saved = try own.query(
            """
            INSERT INTO \(table) AS s VALUES ($1::text, 'text', $2::text)
            ON CONFLICT (name, item) DO UPDATE SET value = excluded.value
            WHERE s.value IS NOT DISTINCT FROM $3::text OR s.value = excluded.value
            RETURNING 1
            """, [.text(name), .text(new), .text(value)], for: "saving a shared login")
        guard saved.count > 0 else { throw SharedTextLimits.lost(place) }
        text.withLock { $0 = new }
    }

    func release() {
        connection.withLock { connection in
            if let connection, connection.isAlive { try? connection.run("ROLLBACK") }
            connection = nil
        }
    }
}
