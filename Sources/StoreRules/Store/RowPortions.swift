internal import StoreContract

/// The reading of a query in portions, which leaves stubs out if the query does.
struct RowPortions {
    /// The rows of a portion, and which of their keys are those of stubs.
    typealias Portion = (rows: [EntityRow], stubs: Set<RowKey>)

    private let query: RowQuery
    private let size: Int

    /// - Parameter size: The maximum number of rows of a portion.
    init(_ query: RowQuery, size: Int) {
        self.query = query
        self.size = size
    }

    /// Calls `body` with each row.
    ///
    /// - Parameter portion: Returns the rows of a query, stubs included.
    func read(_ portion: (RowQuery) throws -> Portion, _ body: (EntityRow) throws -> Void) throws {
        var part = query
        var left = query.limit ?? .max
        // The database does not know which rows are stubs, so it cannot count the others.
        var skipped = query.includesStubs ? 0 : query.offset
        part.offset = query.offset - skipped
        while left > 0 {
            let limit = query.includesStubs ? min(left, size) : size
            part.limit = limit == .max ? nil : limit
            let (rows, stubs) = try portion(part)
            for row in rows where left > 0 && !stubs.contains(row.key) {
                guard skipped == 0 else {
                    skipped -= 1
                    continue
                }
                try body(row)
                left -= 1
            }
            guard rows.count == limit else { return }
            part.after = rows.last
            part.offset = 0
        }
    }
}
