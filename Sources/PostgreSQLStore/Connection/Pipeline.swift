internal import CPQ

/// The statements that a connection has sent without waiting for their results.
///
/// The server runs them in order; after one that fails, it skips the others up to a point of synchronization.
struct Pipeline {
    private enum Entry {
        /// A statement, by what it does, and the SQL that it prepares.
        case statement(String, prepares: String?)
        case synchronization
    }

    private let handle: OpaquePointer
    private var entries: [Entry] = []

    init(_ handle: OpaquePointer) { self.handle = handle }

    var isEmpty: Bool { entries.isEmpty }

    /// Sends a statement, by its name if it is prepared.
    ///
    /// - Returns: Whether it could be sent; if not, the pipeline is as before.
    mutating func send(_ name: String?, _ sql: String, _ parameters: [SQLParameter], _ action: String) -> Bool {
        add(.statement(action, prepares: nil)) { handle in
            parameters.withPointers { values, lengths, formats in
                if let name {
                    PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
                } else {
                    PQsendQueryParams(handle, sql, Int32(parameters.count), nil, values, lengths, formats, 1)
                }
            }
        }
    }

    /// Prepares a statement under a name.
    ///
    /// - Returns: Whether it could be sent; if not, the pipeline is as before.
    mutating func prepare(_ name: String, _ sql: String, _ action: String) -> Bool {
        add(.statement(action, prepares: sql)) { PQsendPrepare($0, name, sql, 0, nil) }
    }

    private mutating func add(_ entry: Entry, _ send: (OpaquePointer) -> Int32) -> Bool {
        if entries.isEmpty, PQenterPipelineMode(handle) == 0 { return false }
        guard send(handle) == 1 else {
            if entries.isEmpty { PQexitPipelineMode(handle) }
            return false
        }
        entries.append(entry)
        return true
    }

    /// Has the server run what was sent; returns false if the connection was lost.
    @discardableResult
    mutating func synchronize() -> Bool {
        guard PQpipelineSync(handle) == 1 else { return false }
        entries.append(.synchronization)
        return true
    }

    /// What a statement returned, which the caller frees, nil if the connection was lost; and the SQL that could not be
    /// prepared.
    typealias Outcome = (result: OpaquePointer?, action: String, unprepared: [String])

    /// Waits for the results of all statements; returns that of the first one that failed, or else that of the last.
    mutating func finish() -> Outcome? {
        if entries.isEmpty { return nil }
        if case .statement? = entries.last { synchronize() }
        var outcome: Outcome?
        var unprepared: [String] = []
        var hasFailed = false
        for entry in entries {
            let result = PQgetResult(handle)
            guard case .statement(let action, let prepares) = entry else {
                PQclear(result)
                continue
            }
            // The end of the statement's results.
            if result != nil { while let further = PQgetResult(handle) { PQclear(further) } }
            guard !hasFailed else {
                PQclear(result)
                if let prepares { unprepared.append(prepares) }
                continue
            }
            if let outcome { PQclear(outcome.result) }
            outcome = (result, action, [])
            let status = PQresultStatus(result)
            hasFailed = status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK
            if hasFailed, let prepares { unprepared.append(prepares) }
        }
        PQexitPipelineMode(handle)
        entries = []
        outcome?.unprepared = unprepared
        return outcome
    }
}
