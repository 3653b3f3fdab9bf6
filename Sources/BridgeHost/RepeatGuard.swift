/// Notices a walk that goes round in circles: a bridge whose batches have all come before has lost its place.
///
/// Most batches cost a look at their ends only: all bytes count from the first that looks like an earlier one on.
struct RepeatGuard {
    /// How many batches in a row may be repeats.
    static let most = 100
    /// What is remembered of a long walk, in batches.
    private static let memory = 1 << 18
    private static let sample = 512

    private var ends: Set<Int> = []
    private var wholes: Set<Int> = []
    private var count = 0

    /// Takes the next batch; true when too many in a row were repeats.
    mutating func isEndless(after batch: UnsafeRawBufferPointer) -> Bool {
        guard !batch.isEmpty else { return false }
        guard ends.contains(Self.hash(batch, Self.sample)) else {
            if ends.count < Self.memory { ends.insert(Self.hash(batch, Self.sample)) }
            count = 0
            return false
        }
        let whole = Self.hash(batch, batch.count)
        guard wholes.contains(whole) else {
            if wholes.count < Self.memory { wholes.insert(whole) }
            count = 0
            return false
        }
        count += 1
        return count >= Self.most
    }

    private static func hash(_ batch: UnsafeRawBufferPointer, _ length: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(batch.count)
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: batch.prefix(length)))
        if length < batch.count { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: batch.suffix(length))) }
        return hasher.finalize()
    }
}
