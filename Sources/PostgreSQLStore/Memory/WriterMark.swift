/// Up to where a scan knows which transactions wrote the rows of a table.
///
/// PostgreSQL notes in each row the transaction that wrote this version of it (`xmin`; "System Columns" in its documentation).
/// The numbers of transactions are those of `pg_current_xact_id()`, which never come again.
struct WriterMark: Equatable {
    /// All transactions before this one had ended when a scan looked at the rows.
    var oldest: Int64
    /// The number of rows that transactions before ``oldest``, or one of ``later``, have written.
    var rows: Int64
    /// The transactions from ``oldest`` on whose rows are known: those that had ended by then, and those of the listing's
    /// pages.
    var later: [Int64] = []

    /// A row has 32 bits of a number; a mark as old as this one, or older, would mistake new transactions for old ones.
    static let maxAge: Int64 = 1 << 30

    init(oldest: Int64, rows: Int64, later: [Int64] = []) {
        (self.oldest, self.rows, self.later) = (oldest, rows, later)
    }

    /// Creates a mark from what `ListingMemory.mark` keeps; nil if that is empty.
    init?(_ numbers: [Int64]) {
        guard numbers.count >= 2 else { return nil }
        self.init(oldest: numbers[0], rows: numbers[1], later: Array(numbers[2...]))
    }

    var numbers: [Int64] { [oldest, rows] + later }
}
