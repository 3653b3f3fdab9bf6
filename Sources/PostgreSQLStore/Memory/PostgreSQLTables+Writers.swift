internal import StoreContract

/// The transactions that wrote the rows of a table.
///
/// All functions look at the snapshot of the open transaction, which has one for all its statements.
extension PostgreSQLTables {
    /// The transactions that a snapshot knows.
    struct Snapshot {
        /// The oldest one that was open.
        var oldest: Int64
        /// The first one that had not begun.
        var next: Int64
    }

    func snapshot() throws -> Snapshot {
        let snapshot = try connection.query(
            """
            SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint
            FROM (SELECT pg_current_snapshot()) AS c (s)
            """, for: "asking for the transactions")
        return Snapshot(oldest: snapshot.bigint(0, 0) ?? 0, next: snapshot.bigint(0, 1) ?? 0)
    }

    /// Whether a table of the schema has triggers, rules or references that change rows, so that a page may change others
    /// than its own.
    func haveTriggers() throws -> Bool {
        try connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
                    WHERE c.relnamespace = n.oid AND NOT g.tgisinternal)
                OR EXISTS (SELECT 1 FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
                    WHERE c.relnamespace = n.oid AND r.ev_type <> '1')
                OR EXISTS (SELECT 1 FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
                    WHERE c.relnamespace = n.oid AND o.contype = 'f'
                        AND (o.confdeltype IN ('c', 'n', 'd') OR o.confupdtype IN ('c', 'n', 'd')))
            FROM pg_namespace n WHERE n.nspname = $1::text
            """, [.text(sql.schema)], for: "looking for triggers"
        ).boolean(0, 0)
    }

    /// Returns a number that another table has, or this one with other columns: some changes of columns leave the rows as
    /// their transactions wrote them.
    func fingerprint(of root: Int) throws -> Int64? {
        try connection.query(
            """
            SELECT hashtextextended(a.attrelid::text || string_agg(
                concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation), ',' ORDER BY a.attnum), 0)
            FROM pg_attribute a WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped
            GROUP BY a.attrelid
            """, [.text(try table(root).name)], for: "reading the columns of \(name(root))"
        ).bigint(0, 0)
    }

    /// Returns how many of some rows the table has, and how many of them are as the transactions of a mark have left them.
    ///
    /// - Parameter rows: Ranges of row numbers, at least one.
    func count(
        _ root: Int, rows: [ClosedRange<Int64>], since mark: WriterMark
    ) throws -> (all: Int64, known: Int64) {
        let table = try table(root)
        let known = KnownWriters(mark)
        var isIn = RowsIn(rows, table.numberName, after: known.parameters.count)
        // A third of the time is that of comparing the numbers.
        if rows.count == 1, let all = try numbers(in: root), rows[0].lowerBound <= all.lowerBound,
            all.upperBound <= rows[0].upperBound
        {
            isIn = .all
        }
        let counts = try connection.query(
            """
            SELECT count(*), count(*) FILTER (WHERE \(known.condition)) FROM \(table.name) t \(known.join)
            WHERE \(isIn.condition)
            """, known.parameters + isIn.parameters, for: "looking for changed rows of \(name(root))")
        return (counts.bigint(0, 0) ?? 0, counts.bigint(0, 1) ?? 0)
    }

    /// Returns the least and the greatest number of a table's rows; nil if it is empty.
    private func numbers(in root: Int) throws -> ClosedRange<Int64>? {
        let table = try table(root)
        let ends = try connection.query(
            "SELECT min(t.\(table.numberName)), max(t.\(table.numberName)) FROM \(table.name) t",
            for: "looking for changed rows of \(name(root))")
        guard let least = ends.bigint(0, 0), let greatest = ends.bigint(0, 1) else { return nil }
        return least...greatest
    }

    /// Returns the numbers of those of some rows that others than the transactions of a mark have written.
    func foreignRows(
        of root: Int, in rows: [ClosedRange<Int64>], since mark: WriterMark, limit: Int
    ) throws -> [Int64] {
        let table = try table(root)
        let known = KnownWriters(mark)
        let isIn = RowsIn(rows, table.numberName, after: known.parameters.count)
        let found = try connection.query(
            """
            SELECT t.\(table.numberName) FROM \(table.name) t \(known.join)
            WHERE \(isIn.condition) AND NOT (\(known.condition)) LIMIT \(limit)
            """, known.parameters + isIn.parameters, for: "looking for changed rows of \(name(root))")
        return (0..<found.count).compactMap { found.bigint($0, 0) }
    }

    /// Returns a mark for the snapshot; nil if it would have too many transactions.
    ///
    /// - Parameter later: Transactions of the listing's own pages.
    func mark(of root: Int, _ snapshot: Snapshot, table: Int64, later: [Int64]) throws -> WriterMark? {
        var mark = WriterMark(oldest: snapshot.oldest, table: table, later: later.filter { $0 >= snapshot.oldest })
        // With no open transaction, all rows are by transactions before the mark.
        guard snapshot.oldest < snapshot.next else { return mark }
        // Others that have written rows have ended, as the rows are visible, and write no more.
        let limit = WriterMark.maxWriters
        let known = KnownWriters(mark)
        let found = try connection.query(
            """
            SELECT DISTINCT t.xmin::text::bigint FROM \(try self.table(root).name) t \(known.join)
            WHERE NOT (\(known.condition)) LIMIT \(limit + 1)
            """, known.parameters, for: "looking for changed rows of \(name(root))")
        guard found.count <= limit else { return nil }
        let next = UInt32(truncatingIfNeeded: snapshot.next)
        for row in 0..<found.count {
            guard let writer = found.bigint(row, 0) else { continue }
            mark.later.append(snapshot.next - Int64(next &- UInt32(truncatingIfNeeded: writer)))
        }
        return mark
    }
}

/// The condition of a row that a transaction before a mark, or one that it names, has written.
///
/// The age of a transaction is its distance from the newest one. That of a row from before the numbers of 32 bits began
/// anew may be wrong, and is then that of a new one.
private struct KnownWriters {
    let condition: String
    /// What the condition needs beside the table.
    let join: String
    /// The parameters from `$1` on.
    let parameters: [SQLParameter]

    /// The maximum number of ranges of successive transactions that a condition names one by one.
    private static let maxRanges = 8

    init(_ mark: WriterMark) {
        let isOld = "age(t.xmin) > (SELECT age($1::text::xid))"
        // The pages of a listing mostly are successive transactions.
        let ranges = mark.later.map { $0...$0 }.coalesced()
        if ranges.count <= Self.maxRanges {
            // The newest transaction of a range has the least age.
            let isNamed = ranges.indices.map { index in
                "age(t.xmin) BETWEEN (SELECT age($\(2 * index + 2)::text::xid)) AND (SELECT age($\(2 * index + 3)::text::xid))"
            }
            condition = ([isOld] + isNamed).joined(separator: " OR ")
            join = ""
            parameters = ([mark.oldest] + ranges.flatMap { [$0.upperBound, $0.lowerBound] }).map { .text(Self.xid($0)) }
        } else {
            condition = "\(isOld) OR l.x IS NOT NULL"
            join = "LEFT JOIN (SELECT DISTINCT u.x::xid FROM unnest($2::text[]) AS u (x)) AS l (x) ON l.x = t.xmin"
            parameters = [.text(Self.xid(mark.oldest)), .texts(mark.later.map(Self.xid))]
        }
    }

    private static func xid(_ number: Int64) -> String { String(UInt32(truncatingIfNeeded: number)) }
}

/// The condition of a row whose number is in one of several ranges.
private struct RowsIn {
    let condition: String
    let parameters: [SQLParameter]

    /// The condition that all rows meet.
    static let all = RowsIn(condition: "true", parameters: [])

    private init(condition: String, parameters: [SQLParameter]) {
        (self.condition, self.parameters) = (condition, parameters)
    }

    /// - Parameter count: The number of the statement's parameters before these.
    init(_ ranges: [ClosedRange<Int64>], _ column: String, after count: Int) {
        if ranges.count == 1, let range = ranges.first {
            condition = "t.\(column) BETWEEN $\(count + 1)::bigint AND $\(count + 2)::bigint"
            parameters = [.bigint(range.lowerBound), .bigint(range.upperBound)]
        } else {
            condition = "t.\(column) <@ (SELECT $\(count + 1)::text::int8multirange)"
            let texts = ranges.map { "[\($0.lowerBound),\($0.upperBound)]" }
            parameters = [.text("{" + texts.joined(separator: ",") + "}")]
        }
    }
}
