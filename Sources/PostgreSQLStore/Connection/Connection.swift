internal import CPQ
internal import Glibc
internal import StoreContract
internal import SystemCalls

/// A connection to a server.
///
/// Calls block, and may come from any thread; one runs at a time.
final class Connection: @unchecked Sendable {
    // Sendable because `handle`, `statements` and what follows it are used while `mutex` is held.
    private let handle: OpaquePointer
    private let mutex = Mutex(())
    /// The names of the prepared statements, by SQL.
    private var statements: [String: String] = [:]
    private var lastStatement = 0
    private var pipeline: Pipeline
    /// Whether ``end()`` was called.
    private var isEnded = false
    /// Where the database is, for messages: host, database and schema.
    let place: String
    let location: DatabaseLocation
    /// What the server can do.
    private(set) var engine = EngineProfile(.postgresql)
    /// Whether the server does not know whether the last COMMIT took effect.
    private var isOutcomeUnknown = false

    /// Connects to the server.
    ///
    /// - Parameters:
    ///   - name: How the server's administrators see the connection; at most 63 bytes.
    ///   - engine: What the server is known to be; nil asks it.
    /// - Throws: `StoreError` that names host, database, schema and a remedy, and never the password.
    init(_ location: DatabaseLocation, name: String = "bmo", engine: EngineProfile? = nil) throws {
        self.location = location
        let options = try ConnectionOptions(location, name: name)
        let handle = options.withPointers { PQconnectdbParams($0, $1, 0) }
        guard let handle else { throw StoreError(.io, "out of memory while connecting") }
        place = options.place(of: handle, schema: location.schema)
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = options.redacted(String(cString: PQerrorMessage(handle)))
            PQfinish(handle)
            throw ServerError.refused(message).storeError(place)
        }
        self.handle = handle
        pipeline = Pipeline(handle)
        // Should this throw, `deinit` ends the connection: every property has its value.
        try begin()
        self.engine = try engine ?? EngineProfile(detectedBy: self)
    }

    deinit { PQfinish(handle) }

    /// Connects to a server that has answered before: if it does not answer now, it may be starting again.
    ///
    /// - Parameter engine: What the server is known to be; nil asks it.
    /// - Throws: `StoreError`, which is transient where the server was not reached or ended the connection.
    static func again(_ location: DatabaseLocation, engine: EngineProfile? = nil) throws -> Connection {
        do {
            return try Connection(location, engine: engine)
        } catch var error as StoreError where error.code == .io {
            error.isTransient = true
            throw error
        }
    }

    private func begin() throws {
        // Notices, such as of a table that exists already, are of no use here.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        let settings = ["TimeZone = 'UTC'", "client_min_messages = warning", "search_path = pg_catalog, pg_temp"]
        try send(
            settings.map { "SET \($0)" } + [Self.otherSettings], isLast: true, for: "setting up the connection")
    }

    /// Settings that some versions and engines do not have: the names of types without quotes, and no end of a connection,
    /// such as that of a lock, that waits for a slow remote.
    private static let otherSettings = """
        SELECT set_config(name, CASE name WHEN 'quote_all_identifiers' THEN 'off' ELSE '0' END, false)
        FROM pg_settings WHERE name IN ('quote_all_identifiers', 'idle_session_timeout')
        """

    /// The version as a number: 150018 for 15.18.
    var serverVersion: Int32 { mutex.withLock { _ in PQserverVersion(handle) } }

    /// The process that serves the connection, as the server or a pooler in front of it said in the beginning.
    var serverProcess: Int32 { mutex.withLock { _ in PQbackendPID(handle) } }

    /// Whether the connection is usable.
    var isAlive: Bool { mutex.withLock { _ in PQstatus(handle) == CONNECTION_OK && !isOutcomeUnknown } }

    /// Whether a transaction is open or failed.
    var isInTransaction: Bool { mutex.withLock { _ in PQtransactionStatus(handle) != PQTRANS_IDLE } }

    /// Whether the open transaction has failed.
    var isInFailedTransaction: Bool { mutex.withLock { _ in PQtransactionStatus(handle) == PQTRANS_INERROR } }

    /// Rolls the open transaction back, and refuses further statements.
    ///
    /// - Parameter last: A statement that is run before; the connection ends also if it fails.
    func end(after last: String? = nil) {
        mutex.withLock { _ in
            isEnded = true
            PQclear(finished()?.result)
            guard PQstatus(handle) == CONNECTION_OK else { return }
            if PQtransactionStatus(handle) != PQTRANS_IDLE { PQclear(PQexec(handle, "ROLLBACK")) }
            if let last { PQclear(PQexec(handle, last)) }
        }
    }

    private func checkOpen() throws {
        if isEnded { throw StoreError(.internal, "the database is closed") }
    }

    // MARK: - Statements

    /// Runs statements without parameters and results.
    func run(_ sql: String, for action: @autoclosure () -> String = "a statement") throws {
        try mutex.withLock { _ in
            try checkOpen()
            try finishPipeline()
            guard let result = PQexec(handle, sql) else { throw failure(nil, action()) }
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY else {
                throw failure(result, action())
            }
        }
    }

    /// Runs a statement, which is prepared once per connection, unless too many are already.
    @discardableResult
    func query(
        _ sql: String, _ parameters: [SQLParameter] = [], for action: @autoclosure () -> String = "a statement"
    ) throws -> QueryResult {
        try mutex.withLock { _ in
            try checkOpen()
            let name = try prepared(sql, action())
            if !pipeline.isEmpty {
                guard pipeline.send(name, sql, parameters, action()) else { throw failure(nil, action()) }
                let (result, action, _) = finished() ?? (nil, action(), [])
                return QueryResult(try checked(result, action))
            }
            let result = parameters.withPointers { values, lengths, formats in
                if let name {
                    PQexecPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
                } else {
                    PQexecParams(handle, sql, Int32(parameters.count), nil, values, lengths, formats, 1)
                }
            }
            return QueryResult(try checked(result, action()))
        }
    }

    /// Runs a statement whose result is of no interest; it fails now or with the next statement.
    ///
    /// Several such statements and the next one cost a single round trip.
    func send(
        _ sql: String, _ parameters: [SQLParameter] = [], for action: @autoclosure () -> String = "a statement"
    ) throws {
        try send(sql, parameters, isPrepared: true, isLast: false, action())
    }

    /// Sends statements without parameters and results, which are not prepared.
    ///
    /// - Parameter isLast: Whether the server runs them at once; the next statement waits for them.
    func send(
        _ statements: [String], isLast: Bool = false, for action: @autoclosure () -> String = "a statement"
    ) throws {
        for (index, sql) in statements.enumerated() {
            try send(sql, [], isPrepared: false, isLast: isLast && index == statements.count - 1, action())
        }
    }

    private func send(
        _ sql: String, _ parameters: [SQLParameter], isPrepared: Bool, isLast: Bool, _ action: @autoclosure () -> String
    ) throws {
        guard cpq_has_pipelining() != 0 else {
            if isPrepared { try query(sql, parameters, for: action()) } else { try run(sql, for: action()) }
            return
        }
        try mutex.withLock { _ in
            try checkOpen()
            let name = isPrepared ? try prepared(sql, action()) : nil
            guard pipeline.send(name, sql, parameters, action()), !isLast || pipeline.synchronize() else {
                throw failure(nil, action())
            }
        }
    }

    /// Commits the transaction.
    ///
    /// - Parameter waits: Whether to wait until it is committed; if it wrote nothing, the next statement may wait instead.
    func commit(waits: Bool) throws {
        if waits { try run("COMMIT", for: "committing") } else { try send(["COMMIT"], isLast: true, for: "committing") }
    }

    /// Waits for the statements that were sent, and ignores how they end: their transaction is rolled back.
    func abandonSent() { mutex.withLock { _ in PQclear(finished()?.result) } }

    /// Waits for the statements that were sent.
    func finishSent() throws { try mutex.withLock { _ in try finishPipeline() } }

    private func finishPipeline() throws {
        guard let (result, action, _) = finished() else { return }
        PQclear(try checked(result, action))
    }

    /// Waits for the results of the pipeline.
    private func finished() -> Pipeline.Outcome? {
        let outcome = pipeline.finish()
        for sql in outcome?.unprepared ?? [] { statements[sql] = nil }
        return outcome
    }

    /// Returns the result of a statement.
    ///
    /// - Throws: `StoreError` if the statement failed; the result is freed then.
    private func checked(_ result: OpaquePointer?, _ action: String) throws -> OpaquePointer {
        guard let result else { throw failure(nil, action) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            defer { PQclear(result) }
            throw failure(result, action)
        }
        return result
    }

    /// The number of prepared statements per connection: queries of a long-lived program may have any text.
    private static let mostStatements = 300

    /// Returns the name of a prepared statement; nil if there are too many.
    ///
    /// A new one is prepared in the same round trip as the statement that follows.
    private func prepared(_ sql: String, _ action: String) throws -> String? {
        if let name = statements[sql] { return name }
        guard statements.count < Self.mostStatements else { return nil }
        lastStatement += 1
        let name = "bmo\(lastStatement)"
        if cpq_has_pipelining() != 0 {
            guard pipeline.prepare(name, sql, action) else { throw failure(nil, action) }
            statements[sql] = name
            return name
        }
        guard let result = PQprepare(handle, name, sql, 0, nil) else { throw failure(nil, action) }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure(result, action) }
        statements[sql] = name
        return name
    }

    // MARK: - Errors

    private func failure(_ result: OpaquePointer?, _ action: String) -> StoreError {
        func field(_ code: UnicodeScalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        let state = field("C") ?? ""
        // The connection may not be used further, as if it were lost.
        if engine.unknownStates.contains(state) { isOutcomeUnknown = true }
        let isDisconnected = PQstatus(handle) != CONNECTION_OK || isOutcomeUnknown
        let words = field("M") ?? String(cString: PQerrorMessage(handle))
        let detail = field("D").map { ": \($0)" } ?? ""
        let message = ServerError.line(words + detail)
        // Another program has inserted a row with a key that the transaction's snapshot does not have.
        let isKnownNow = state == "23505" && field("n").map(Self.isOfKey) == true
        return ServerError(
            state: state, message: message, action: action, isDisconnected: isDisconnected,
            isRetried: engine.transientStates.contains(state) || isKnownNow,
            isInFunction: field("W")?.contains("function") == true
        ).storeError(place)
    }

    /// Returns whether a constraint is a primary key: the server adds a number if a renamed table has kept the name.
    private static func isOfKey(_ constraint: String) -> Bool {
        var name = constraint[...]
        while name.last?.isNumber == true { name.removeLast() }
        return name.hasSuffix("_pkey")
    }
}

extension ServerError {
    /// Returns a message of several indented lines as one line.
    fileprivate static func line(_ message: String) -> String {
        message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// An error of connecting, for which libpq gives no SQLSTATE.
    static func refused(_ message: String) -> ServerError {
        let states = [
            ("password authentication failed", "28P01"), ("no password supplied", "28P01"),
            ("no pg_hba.conf entry", "28000"), ("Peer authentication failed", "28000"),
            ("\" does not exist", message.contains("database \"") ? "3D000" : "28000"),
            ("too many clients", "53300"), ("the database system is ", "57P03"),
            ("permission denied for database", "42501"),
        ]
        let line = line(message)
        let state = states.first { message.contains($0.0) }?.1 ?? ""
        return ServerError(
            state: state, message: line, action: "connecting", isDisconnected: true, isRetried: false)
    }
}
