public import Mapping

/// The digest of a batch's bytes: equal batches have equal digests, and two different ones of a listing in practice never.
///
/// Rounds as in XXH64 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), which can be undone: no word hides what
/// the others are. It does not protect against a remote that wants a collision: such a remote could as well send the old
/// records.
public struct BatchDigest: Hashable, Sendable {
    /// The two halves of the digest: other sums of the same lanes.
    public let high: UInt64, low: UInt64

    /// Creates a digest from its halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Computes the digest of some bytes.
    public init(of bytes: UnsafeRawBufferPointer) {
        var index = 0
        // Four lanes that do not wait for each other.
        var lanes = (Self.primes.0, Self.primes.1, Self.primes.2, Self.primes.3)
        while index + 32 <= bytes.count {
            lanes.0 = Self.mixed(lanes.0, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            lanes.1 = Self.mixed(lanes.1, bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self))
            lanes.2 = Self.mixed(lanes.2, bytes.loadUnaligned(fromByteOffset: index + 16, as: UInt64.self))
            lanes.3 = Self.mixed(lanes.3, bytes.loadUnaligned(fromByteOffset: index + 24, as: UInt64.self))
            index += 32
        }
        while index < bytes.count {
            var rest: UInt64 = 0
            for offset in index..<min(index + 8, bytes.count) { rest = rest << 8 | UInt64(bytes[offset]) }
            lanes.0 = Self.mixed(lanes.0, rest)
            index += 8
        }
        let count = UInt64(bytes.count)
        high = Self.sum(of: [lanes.0, lanes.1, lanes.2, lanes.3], from: count)
        low = Self.sum(of: [lanes.3, lanes.1, lanes.0, lanes.2], from: ~count)
    }

    private static func sum(of lanes: [UInt64], from start: UInt64) -> UInt64 {
        let sum = lanes.reduce(start &+ primes.3) { mixed($0, $1) }
        let half = (sum ^ (sum >> 33)) &* primes.1
        return half ^ (half >> 29)
    }

    private static func mixed(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        let sum = lane &+ word &* primes.1
        return (sum << 31 | sum >> 33) &* primes.0
    }

    /// The first four primes of XXH64.
    private static let primes: (UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63
    )
}

/// What a scan has to know of a batch that it does not map again.
public struct BatchSummary: Sendable, Equatable {
    /// The number of its records, each the object of a row.
    public var records: Int
    /// The fields of the entity's layout that none of the records has.
    public var absentFields: [Int]
    /// The members that the records have.
    public var members: Set<ListedMember>
    /// What decided that a missing member keeps the stored value; nil if that was never a question.
    public var absenceContext: UInt64?

    /// Creates a summary.
    public init(
        records: Int, absentFields: [Int], members: Set<ListedMember>, absenceContext: UInt64? = nil
    ) {
        self.absenceContext = absenceContext
        self.records = records
        self.absentFields = absentFields
        self.members = members
    }
}

/// The batches that a listing had, and whose rows are still as these batches left them.
///
/// A scan that gets the same bytes again has nothing to map, to compare or to write: it only marks the rows as seen, with
/// `ScanTransaction.repeatBatch(_:)`. That call alone decides; what this memory knows may be out of date until then.
///
/// ```swift
/// let memory = try store.batchMemory(of: scan, mapping: mapping)
/// if let summary = memory?.summary(of: digest), try page.repeatBatch(digest) { count += summary.records }
/// ```
///
/// Calls may come from any thread, and throw no errors.
public protocol BatchMemory: AnyObject, Sendable {
    /// Returns what a batch with this digest was like; nil if none is known.
    func summary(of digest: BatchDigest) -> BatchSummary?
}
