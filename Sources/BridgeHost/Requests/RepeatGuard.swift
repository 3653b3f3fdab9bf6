/// Detects a scan that loops: a bridge that keeps returning batches that it returned before in a listing.
///
/// Most batches are hashed by their ends only. A batch is hashed whole once its ends match those of an earlier one.
struct RepeatGuard {
    /// The number of consecutive repeated batches that ends the scan.
    static let most = 100
    /// The maximum number of listings in a scan.
    static let mostListings = 100_000
    /// The maximum number of batches to remember.
    private static let memory = 1 << 18
    private static let sample = 512

    private var ends: Set<Int> = []
    private var wholes: Set<Int> = []
    private var count = 0
    private var listings = 1

    /// Records the next batch; returns true after too many consecutive repeats.
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

    /// Begins the next listing, which may have the records of the ones before; returns true after too many.
    mutating func isEndlessAfterListing() -> Bool {
        ends.removeAll(keepingCapacity: true)
        wholes.removeAll(keepingCapacity: true)
        count = 0
        listings += 1
        return listings > Self.mostListings
    }

    private static func hash(_ batch: UnsafeRawBufferPointer, _ length: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(batch.count)
        hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: batch.prefix(length)))
        if length < batch.count { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: batch.suffix(length))) }
        return hasher.finalize()
    }
}
