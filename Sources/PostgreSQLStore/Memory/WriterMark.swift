/// Up to where a scan knows which transactions wrote the rows of a table.
///
/// PostgreSQL notes in each row the transaction that wrote this version of it (`xmin`; "System Columns" in its documentation).
/// The numbers of transactions are those of `pg_current_xact_id()`.
struct WriterMark: Equatable {
    /// All transactions before this one had ended when a scan looked at the rows.
    var oldest: Int64
    /// Identifies the table and its columns; see ``PostgreSQLTables/fingerprint(of:)``.
    var table: Int64
    /// The transactions from ``oldest`` on whose rows are known: those that had ended by then, and those of the listing's
    /// pages.
    var later: [Int64] = []

    /// A row has 32 bits of a number; a mark as old as this one, or older, would mistake new transactions for old ones.
    static let maxAge: Int64 = 1 << 30
    /// The maximum number of transactions in ``later``: a page a second for some hours.
    static let maxLater = 20_000
    /// The maximum number of other transactions in ``later``, which had ended while an older one was open.
    static let maxWriters = 1_000

    init(oldest: Int64, table: Int64, later: [Int64] = []) {
        (self.oldest, self.table, self.later) = (oldest, table, later)
    }

    /// Creates a mark from what `ListingMemory.mark` keeps; nil if that is empty.
    init?(_ numbers: [Int64]) {
        guard numbers.count >= 2 else { return nil }
        self.init(oldest: numbers[0], table: numbers[1], later: Array(numbers[2...]))
    }

    /// Whether the mark is of a time shortly before a transaction that has not begun; not so if the database was restored to an
    /// earlier time, or if the mark is too old.
    func isValid(before next: Int64) -> Bool {
        oldest <= next && next - oldest < Self.maxAge && !later.contains { $0 >= next }
    }

    /// What `ListingMemory.mark` keeps; empty if the mark has too many transactions.
    var numbers: [Int64] { later.count > Self.maxLater ? [] : [oldest, table] + later }
}
