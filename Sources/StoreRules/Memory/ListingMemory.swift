package import StoreContract
internal import SystemCalls

/// The batches that a listing had, and the rows of each, which are still as the batch left them.
///
/// Three rules hold it to that. A batch that is merged and remembered takes the place of all others that have one of its
/// rows, because it may have changed them. What else has written rows of the same table, in this process or another one, the
/// store finds out, and makes it forget the batches of these rows, or everything; see ``ListingMemories``. A scan that deletes
/// what it lacks leaves only the batches that it had: the end of a scan never changes a row that it has listed.
package final class ListingMemory: BatchMemory {
    /// A batch.
    package struct Entry: Equatable, Sendable {
        package let summary: BatchSummary
        package let rows: SeenLog.Batch
        /// The ascending stretches of its rows, which do not overlap.
        package let spans: [ClosedRange<Int64>]
    }

    /// The maximum number of batches of a listing: 20 million rows, of a thousand to the batch.
    static let maxBatches = 20_000
    /// The maximum number of a batch's spans: more of them show a listing in another order than its rows have.
    static let maxSpans = 64

    private struct State {
        var entries: [BatchDigest: Entry] = [:]
        var spans = RowSpans()
        /// The batches that the current scan had.
        var listed: Set<BatchDigest> = []
        /// Whether something was remembered or forgotten since it was read or saved.
        var isChanged = false
        /// Whether the current scan has too many batches.
        var isFull = false
        var mark: [Int64] = []

        mutating func forget(_ digest: BatchDigest) {
            guard let entry = entries.removeValue(forKey: digest) else { return }
            for span in entry.spans { spans.remove(span) }
            listed.remove(digest)
            isChanged = true
        }
    }

    private let state = Mutex(State())
    /// What the batches were mapped by.
    package let mapping: String
    /// The index of the entity that names the table.
    package let root: Int

    init(mapping: String, root: Int, entries: [BatchDigest: Entry] = [:], mark: [Int64] = []) {
        self.mapping = mapping
        self.root = root
        state.withLock { state in
            // In the order of their rows, so that each span is added behind the others.
            func start(_ entry: Entry) -> Int64 { entry.spans.first?.lowerBound ?? .min }
            for (digest, entry) in entries.sorted(by: { start($0.value) < start($1.value) }) {
                Self.remember(digest, entry, &state)
            }
            state.listed = []
            state.isChanged = false
            state.mark = mark
        }
    }

    /// All batches.
    package var entries: [BatchDigest: Entry] { state.withLock { $0.entries } }

    package var isChanged: Bool {
        get { state.withLock { $0.isChanged } }
        set { state.withLock { $0.isChanged = newValue } }
    }

    /// What the store notes to find out later whether others have changed rows of the table.
    package var mark: [Int64] {
        get { state.withLock { $0.mark } }
        set { state.withLock { $0.mark = newValue } }
    }

    package func summary(of digest: BatchDigest) -> BatchSummary? { state.withLock { $0.entries[digest]?.summary } }

    /// Returns a batch; nil if it is not known.
    func entry(of digest: BatchDigest) -> Entry? { state.withLock { $0.entries[digest] } }

    /// Begins a scan.
    func begin() {
        state.withLock { state in
            state.listed = []
            state.isFull = false
        }
    }

    /// Forgets the batches that have one of the rows of a batch that was merged.
    package func forget(rowsOf spans: [ClosedRange<Int64>]) {
        state.withLock { state in
            for digest in Set(spans.flatMap(state.spans.owners)) { state.forget(digest) }
        }
    }

    /// Returns the rows of all batches as ranges of successive numbers, and how many rows these are; nil if there are more
    /// ranges than a limit, or the greatest number is one of them.
    package func rows(atMost limit: Int) -> (ranges: [ClosedRange<Int64>], count: Int)? {
        let batches = entries.values.map(\.rows)
        var ranges: [ClosedRange<Int64>] = []
        for batch in batches {
            var run: ClosedRange<Int64>?
            SeenLog(batch).forEach { row in
                if let last = run, last.upperBound < .max, row == last.upperBound + 1 {
                    run = last.lowerBound...row
                } else {
                    if let run { ranges.append(run) }
                    run = row...row
                }
            }
            if let run { ranges.append(run) }
            guard ranges.count <= limit, batch.greatest < .max else { return nil }
        }
        return (ranges.coalesced(), batches.reduce(0) { $0 + $1.count })
    }

    /// Adds what a committed page had.
    func commit(remembered: [(digest: BatchDigest, entry: Entry)], repeated: [BatchDigest]) {
        state.withLock { state in
            for digest in repeated where state.entries[digest] != nil { state.listed.insert(digest) }
            for (digest, entry) in remembered { Self.remember(digest, entry, &state) }
        }
    }

    private static func remember(_ digest: BatchDigest, _ entry: Entry, _ state: inout State) {
        guard !state.isFull else { return }
        state.forget(digest)
        for other in Set(entry.spans.flatMap(state.spans.owners)) { state.forget(other) }
        guard state.entries.count < maxBatches else {
            state = State(isChanged: true, isFull: true, mark: state.mark)
            return
        }
        state.entries[digest] = entry
        for span in entry.spans { state.spans.add(span, of: digest) }
        state.listed.insert(digest)
        state.isChanged = true
    }

    /// Ends a scan that had everything: what it did not have is forgotten, as its rows may be deleted.
    package func end() {
        state.withLock { state in
            for digest in state.entries.keys where !state.listed.contains(digest) { state.forget(digest) }
        }
    }

    /// Forgets everything.
    package func forgetAll() {
        state.withLock { state in
            guard !state.entries.isEmpty else { return }
            state = State(isChanged: true, isFull: state.isFull, mark: state.mark)
        }
    }
}
