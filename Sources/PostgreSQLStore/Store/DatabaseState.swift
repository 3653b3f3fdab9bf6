internal import StoreContract

/// The state of the database as a transaction finds and leaves it.
extension PostgreSQLTables {
    /// The numbers that a database counts, and what need not be looked up because it is empty.
    struct Counters: Equatable {
        var version: Int64
        var schemaVersion: Int64
        var lastRun: Int64
        var lastChange: Int64
        var lastEntry: Int64
        var lastAcknowledged: Int64
        var lastQuarantined: Int64
        var hasOutbox: Bool
        var hasAcknowledged: Bool
        var hasConflicts: Bool
        var hasQuarantined: Bool

        static let unknown = Counters(
            version: 0, schemaVersion: 0, lastRun: 0, lastChange: 0, lastEntry: 0, lastAcknowledged: 0,
            lastQuarantined: 0, hasOutbox: true, hasAcknowledged: true, hasConflicts: true,
            hasQuarantined: true)
    }

    /// What a transaction knows of the database from its beginning.
    struct State: Equatable {
        let counters: Counters
        /// The entities whose stubs, or sources, are not empty.
        let hasStubs: Set<Int>
        let hasSources: Set<Int>

        /// Reads the state.
        init(over connection: Connection, _ sql: DatabaseSQL) throws {
            let result = try connection.query(sql.state, for: "reading the database's state")
            guard result.count == 1 else {
                throw StoreError(
                    .schema,
                    "\(connection.place): the table bmo_database has \(result.count) rows instead of one",
                    remedy: "restore the database from a backup")
            }
            func number(_ column: Int) -> Int64 { result.bigint(0, column) ?? 0 }
            func marked(_ column: Int) -> Set<Int> {
                Set(zip(sql.order, result.text(0, column) ?? "").filter { $1 == "1" }.map(\.0))
            }
            counters = Counters(
                version: number(0), schemaVersion: number(1), lastRun: number(2), lastChange: number(3),
                lastEntry: number(4), lastAcknowledged: number(5), lastQuarantined: number(6),
                hasOutbox: result.boolean(0, 7), hasAcknowledged: result.boolean(0, 8),
                hasConflicts: result.boolean(0, 9), hasQuarantined: result.boolean(0, 12))
            (hasStubs, hasSources) = (marked(10), marked(11))
        }
    }

    /// Writes the numbers that the database counts, and notes which entities changed.
    ///
    /// - Parameter store: The store's name.
    /// - Returns: The transaction's number, which tells whether it took effect, should its COMMIT get no answer.
    func saveCounters(changed entities: Set<String>, by store: String) throws -> String {
        counters.version += 1
        let numbers = [
            counters.version, counters.lastRun, counters.lastChange, counters.lastEntry, counters.lastAcknowledged,
            counters.lastQuarantined,
        ]
        let saved = try connection.query(
            """
            WITH observed AS (INSERT INTO \(sql.own("bmo_observed")) AS o SELECT *, 1 FROM unnest($7::text[])
                ON CONFLICT (entity) DO UPDATE SET commits = o.commits + 1)
            UPDATE \(sql.own("bmo_database")) SET version = $1::bigint, last_run = $2::bigint,
                last_change = $3::bigint, last_entry = $4::bigint, last_acknowledged = $5::bigint,
                last_quarantined = $6::bigint
            \(sql.engine.hasTransactionStatus ? "RETURNING pg_current_xact_id()::text" : "")
            """, numbers.map { .bigint($0) } + [.texts(entities.sorted())], for: "saving the database's state")
        return try sql.engine.hasTransactionStatus ? saved.text(0, 0) ?? "" : saveOutcome(of: store)
    }

    /// Counts the store's transaction in a row that is there if it took effect.
    private func saveOutcome(of store: String) throws -> String {
        try connection.query(
            """
            INSERT INTO \(sql.own("bmo_outcomes")) AS o VALUES ($1::text, 1)
            ON CONFLICT (store) DO UPDATE SET number = o.number + 1 RETURNING number::text
            """, [.text(store)], for: "counting a transaction"
        ).text(0, 0) ?? ""
    }
}
