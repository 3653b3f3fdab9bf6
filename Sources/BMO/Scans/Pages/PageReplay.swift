/// What an open page needs to be written again in another transaction: its batches, and the scan's state before it.
///
/// A page of many batches is not kept, because nothing holds a whole remote: if it fails, the scan fails, and the next sync
/// continues after the page before.
struct PageReplay<Batch, State> {
    /// The most batches of a page that are kept; a batch has about 1 MiB.
    static var most: Int { 4 }

    private let state: State?
    private var batches: [Batch] = []
    private var isComplete = true

    /// Creates a replay without a page.
    init() { state = nil }

    /// Creates the replay of a page that begins.
    init(from state: State) { self.state = state }

    /// Keeps a batch, unless there are too many.
    mutating func add(_ batch: Batch) {
        guard isComplete, batches.count < Self.most else {
            (isComplete, batches) = (false, [])
            return
        }
        batches.append(batch)
    }

    /// The state before the page and its batches so far; nil if they are not all kept.
    var content: (state: State, batches: [Batch])? {
        guard isComplete, let state, !batches.isEmpty else { return nil }
        return (state, batches)
    }
}
