internal import StoreRules

/// A chunk of a table's rows, some of them marked as seen.
struct MarkedRows {
    /// The rows, in ascending order.
    let rows: [Int64]
    private(set) var isSeen: [Bool]

    init(_ rows: [Int64]) {
        self.rows = rows
        isSeen = Array(repeating: false, count: rows.count)
    }

    /// Marks the rows that are in a log.
    mutating func mark(_ log: SeenLog) {
        guard let first = rows.first, let last = rows.last else { return }
        // The next row is mostly the one after the last match.
        var hint = 0
        var seen = isSeen
        log.forEach { row in
            guard row >= first, row <= last else { return }
            if hint < rows.count, rows[hint] == row {
                seen[hint] = true
                hint += 1
                return
            }
            var low = 0
            var high = rows.count
            while low < high {
                let middle = (low + high) / 2
                if rows[middle] < row { low = middle + 1 } else { high = middle }
            }
            guard low < rows.count, rows[low] == row else { return }
            seen[low] = true
            hint = low + 1
        }
        isSeen = seen
    }
}
