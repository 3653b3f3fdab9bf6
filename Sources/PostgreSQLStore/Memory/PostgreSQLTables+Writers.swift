internal import StoreContract

/// The transactions that wrote the rows of a table.
extension PostgreSQLTables {
    /// What the snapshot of the open transaction has of a table.
    struct WrittenRows {
        /// The number of rows.
        var all: Int64
        /// The number of rows that other transactions than those of a mark have written.
        var foreign: Int64
        /// How a later snapshot can tell which rows are new to it.
        var mark: WriterMark
    }

    /// Whether a table of the schema has triggers or rules, which may write any row with those of a page.
    func haveTriggers() throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
                    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND NOT g.tgisinternal)
                OR EXISTS (SELECT 1 FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
                    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND r.ev_type <> '1')
            """, [.text(sql.schema)], for: "looking for triggers"
        ).boolean(0, 0)
    }

    /// Looks at all rows of a table; the transaction has one snapshot for all its statements.
    ///
    /// - Returns: Nil if the mark is too old, or of a database whose transactions have other numbers.
    func writtenRows(of root: Int, since mark: WriterMark?) throws -> WrittenRows? {
        let snapshot = try connection.query(
            """
            SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint
            FROM (SELECT pg_current_snapshot()) AS c (s)
            """, for: "asking for the transactions")
        guard let oldest = snapshot.bigint(0, 0), let next = snapshot.bigint(0, 1) else { return nil }
        let known = mark ?? WriterMark(oldest: oldest, rows: 0)
        guard known.oldest <= next, next - known.oldest < WriterMark.maxAge, known.later.allSatisfy({ $0 < next })
        else {
            return nil
        }
        var new = WriterMark(oldest: oldest, rows: 0, later: known.later.filter { $0 >= oldest })
        // With no open transaction, all rows are by transactions before the new mark.
        let isSettled = oldest == next
        let counts = try connection.query(
            """
            SELECT count(*), count(*) FILTER (WHERE \(Self.isForeign(since: 1))),
                \(isSettled ? "0::bigint" : "count(*) FILTER (WHERE \(Self.isForeign(since: 3)))")
            FROM \(try table(root).name) t
            """, Self.parameters(known) + (isSettled ? [] : Self.parameters(new)),
            for: "looking for changed rows of \(name(root))")
        guard let all = counts.bigint(0, 0), let foreign = counts.bigint(0, 1), let unsettled = counts.bigint(0, 2)
        else { return nil }
        new.rows = all - unsettled
        if unsettled > 0, let writers = try writers(of: root, after: new, before: next) {
            new.later += writers
            new.rows = all
        }
        return WrittenRows(all: all, foreign: foreign, mark: new)
    }

    /// The most transactions that a mark names because an older one was still open.
    private static let maxWriters = 1_000

    /// Returns the transactions that wrote the rows that a mark does not know; nil if they are too many.
    ///
    /// They have ended, as their rows are visible, and write no more.
    private func writers(of root: Int, after mark: WriterMark, before next: Int64) throws -> [Int64]? {
        let found = try connection.query(
            """
            SELECT DISTINCT t.xmin::text::bigint FROM \(try table(root).name) t WHERE \(Self.isForeign(since: 1))
            LIMIT \(Self.maxWriters + 1)
            """, Self.parameters(mark), for: "looking for changed rows of \(name(root))")
        guard found.count <= Self.maxWriters else { return nil }
        return (0..<found.count).compactMap { row in
            found.bigint(row, 0).map {
                next - Int64(UInt32(truncatingIfNeeded: next) &- UInt32(truncatingIfNeeded: $0))
            }
        }
    }

    /// Returns the numbers of rows that other transactions than those of a mark have written, in no order.
    func foreignRows(of root: Int, since mark: WriterMark, limit: Int) throws -> [Int64] {
        let table = try table(root)
        let found = try connection.query(
            "SELECT t.\(table.numberName) FROM \(table.name) t WHERE \(Self.isForeign(since: 1)) LIMIT \(limit)",
            Self.parameters(mark), for: "looking for changed rows of \(name(root))")
        return (0..<found.count).compactMap { found.bigint($0, 0) }
    }

    /// The condition of a row that neither a transaction before a mark nor one of its own has written.
    ///
    /// The age of a transaction is its distance from the newest one. That of a row from before the numbers of 32 bits began
    /// anew may be wrong, and is then that of a new one.
    ///
    /// - Parameter parameter: The number of the first of the mark's ``parameters(_:)``.
    private static func isForeign(since parameter: Int) -> String {
        """
        age(t.xmin) <= (SELECT age($\(parameter)::text::xid)) AND NOT t.xmin = ANY($\(parameter + 1)::text[]::xid[])
        """
    }

    private static func parameters(_ mark: WriterMark) -> [SQLParameter] {
        func xid(_ number: Int64) -> String { String(UInt32(truncatingIfNeeded: number)) }
        return [.text(xid(mark.oldest)), .texts(mark.later.map(xid))]
    }

    // MARK: - Which database it is

    /// Returns a text that another database does not have, nor this one after it was restored to an earlier time.
    ///
    /// - Returns: Nil if the role may not ask for it.
    func identity() throws -> String? {
        let functions = ["pg_control_system()", "pg_walfile_name(pg_lsn)", "pg_current_wal_insert_lsn()"]
        let mayAsk = try connection.query(
            "SELECT bool_and(has_function_privilege(f, 'EXECUTE')) FROM unnest($1::text[]) AS u (f)",
            [.texts(functions)], for: "asking for the role's rights")
        guard mayAsk.boolean(0, 0) else { return nil }
        // The first eight digits of a log file's name are the timeline, which begins with a restoration.
        let parts = try connection.query(
            """
            SELECT s.system_identifier::text || ' ' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || ' '
                || d.oid::text FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()
            """, for: "asking which database this is")
        return parts.count == 1 ? parts.text(0, 0).map { "\($0) \(sql.schema)" } : nil
    }

    /// Returns the newest run; nil if there is none.
    func newestRun() throws -> (id: String, started: String)? {
        let newest = try connection.query(
            "SELECT id::text, started FROM \(sql.own("bmo_runs")) ORDER BY bmo_runs.id DESC LIMIT 1",
            for: "reading the newest run")
        guard newest.count == 1, let id = newest.text(0, 0), let started = newest.text(0, 1) else { return nil }
        return (id, started)
    }

    /// Returns whether there is a run that began at this time.
    func hasRun(_ run: (id: String, started: String)) throws -> Bool {
        try connection.query(
            "SELECT EXISTS (SELECT 1 FROM \(sql.own("bmo_runs")) WHERE id::text = $1::text AND started = $2::text)",
            [.text(run.id), .text(run.started)], for: "looking for a run"
        ).boolean(0, 0)
    }
}
