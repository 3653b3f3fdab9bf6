package import StoreContract

/// The batches of a page of a listing with a memory: those that it repeats, and those that it adds when it is committed.
package struct PageBatches {
    package let memory: ListingMemory
    /// The rows of the batch that is being merged.
    private var rows = SeenLog()
    /// Whether that batch has changed a row, or may have.
    private var hasWritten = false
    private var remembered: [(digest: BatchDigest, entry: ListingMemory.Entry)] = []
    private var repeated: [BatchDigest] = []
    private var hasMerged = false

    package init(_ memory: ListingMemory) { self.memory = memory }

    /// Whether the page has batches that the listing had before, and no others.
    package var onlyRepeats: Bool { !hasMerged && !repeated.isEmpty }

    /// Notes a row of the batch.
    package mutating func note(_ row: Int64, after before: Int64?) { rows.append(row, after: before) }

    /// Notes rows of the batch whose predecessors in the table are not known.
    package mutating func note(_ rows: [Int64]) { self.rows.append(contentsOf: rows) }

    /// Notes that the batch has changed a row.
    package mutating func noteWrite() { hasWritten = true }

    /// Returns the rows of a batch that the listing has again; nil if it is not known any more.
    package mutating func repeats(_ digest: BatchDigest) -> SeenLog? {
        guard let entry = memory.entry(of: digest) else { return nil }
        repeated.append(digest)
        return SeenLog(entry.rows)
    }

    /// Ends a batch that was merged.
    package mutating func end(_ batch: (digest: BatchDigest, summary: BatchSummary)?) {
        defer { (rows, hasWritten) = (SeenLog(), false) }
        hasMerged = true
        guard let batch, rows.count == batch.summary.records, let own = rows.batch, rows.distinctCount == rows.count,
            let spans = RowSpans.of(rows, after: own.beforeFirst, limit: ListingMemory.maxSpans)
        else {
            // Which rows it has changed is not known so exactly.
            if hasWritten { forgetAll() }
            return
        }
        // At once, as a later batch of the page may be one of these.
        memory.forget(rowsOf: spans)
        remembered.append((batch.digest, ListingMemory.Entry(summary: batch.summary, rows: own, spans: spans)))
    }

    /// Forgets all batches, because rows were changed whose batches are not known.
    package mutating func forgetAll() {
        memory.forgetAll()
        (remembered, repeated) = ([], [])
    }

    /// Ends the page after its commit.
    package func commit() { memory.commit(remembered: remembered, repeated: repeated) }
}
