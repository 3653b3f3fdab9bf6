internal import StoreContract

/// Which batch of a listing has which rows, as spans of rowids that do not overlap.
///
/// A span may cover rows that its batch does not have: then the batch is forgotten sooner than it must be.
struct RowSpans {
    private var starts: [Int64] = []
    private var ends: [Int64] = []
    private var owners: [BatchDigest] = []

    /// Returns the ascending stretches of a batch's rows; nil if there are more than `limit`.
    ///
    /// - Parameter before: The row known to precede the first one in the table: a row that gets between the two makes that
    ///   untrue, so the first stretch begins behind it.
    static func of(_ log: SeenLog, after before: Int64?, limit: Int) -> [ClosedRange<Int64>]? {
        var spans: [ClosedRange<Int64>] = []
        var isWithin = true
        log.forEach { row in
            guard isWithin else { return }
            if let last = spans.last, row > last.upperBound {
                spans[spans.count - 1] = last.lowerBound...row
            } else if spans.isEmpty, let before, before < row {
                spans.append(before + 1...row)
            } else if spans.count < limit {
                spans.append(row...row)
            } else {
                isWithin = false
            }
        }
        return isWithin ? spans.coalesced() : nil
    }

    /// Returns the batches that have rows in a span.
    func owners(in span: ClosedRange<Int64>) -> [BatchDigest] {
        var index = firstEnding(from: span.lowerBound)
        var found: [BatchDigest] = []
        while index < starts.count, starts[index] <= span.upperBound {
            if found.last != owners[index] { found.append(owners[index]) }
            index += 1
        }
        return found
    }

    /// Adds a span that overlaps none.
    mutating func add(_ span: ClosedRange<Int64>, of owner: BatchDigest) {
        let index = firstEnding(from: span.lowerBound)
        starts.insert(span.lowerBound, at: index)
        ends.insert(span.upperBound, at: index)
        owners.insert(owner, at: index)
    }

    /// Removes a span that was added.
    mutating func remove(_ span: ClosedRange<Int64>) {
        let index = firstEnding(from: span.lowerBound)
        guard index < starts.count, starts[index] == span.lowerBound else { return }
        starts.remove(at: index)
        ends.remove(at: index)
        owners.remove(at: index)
    }

    /// Returns the index of the first span that ends at or after a row.
    private func firstEnding(from row: Int64) -> Int {
        // A first sync adds each span behind all others.
        guard let last = ends.last, row <= last else { return ends.count }
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] < row { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
