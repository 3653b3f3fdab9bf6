public import Mapping

/// The digest of a batch's bytes: equal batches have equal digests, and two different ones of a listing in practice never.
///
/// It is no protection against a remote that wants a collision: such a remote could as well send the old records.
public struct BatchDigest: Hashable, Sendable {
    /// The two halves of the digest, which are independent of each other.
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
        var lanes = (Self.seeds.0, Self.seeds.1, Self.seeds.2, Self.seeds.3)
        while index + 64 <= bytes.count {
            lanes.0 = Self.mixed(lanes.0 ^ Self.word(bytes, index), Self.seeds.1 ^ Self.word(bytes, index + 8))
            lanes.1 = Self.mixed(lanes.1 ^ Self.word(bytes, index + 16), Self.seeds.2 ^ Self.word(bytes, index + 24))
            lanes.2 = Self.mixed(lanes.2 ^ Self.word(bytes, index + 32), Self.seeds.3 ^ Self.word(bytes, index + 40))
            lanes.3 = Self.mixed(lanes.3 ^ Self.word(bytes, index + 48), Self.seeds.0 ^ Self.word(bytes, index + 56))
            index += 64
        }
        while index < bytes.count {
            var rest: UInt64 = 0
            for offset in index..<min(index + 8, bytes.count) { rest = rest << 8 | UInt64(bytes[offset]) }
            lanes.0 = Self.mixed(lanes.0 ^ rest, Self.seeds.3)
            lanes.1 = Self.mixed(lanes.1 ^ rest, Self.seeds.2)
            index += 8
        }
        let count = UInt64(bytes.count)
        high = Self.mixed(Self.mixed(lanes.0 ^ count, lanes.1 ^ Self.seeds.0), lanes.2 ^ Self.seeds.1)
        low = Self.mixed(Self.mixed(lanes.2 ^ count, lanes.3 ^ Self.seeds.2), lanes.1 ^ Self.seeds.3)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// The two halves of the product, folded: as in wyhash (https://github.com/wangyi-fudan/wyhash).
    private static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    /// Odd numbers with half of their bits set, as in wyhash.
    private static let seeds: (UInt64, UInt64, UInt64, UInt64) = (
        0x2D35_8DCC_AA6C_78A5, 0x8BB8_4B93_962E_ACC9, 0x4B33_A62E_D433_D4A3, 0x4D5A_2DA5_1DE1_AA47
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
/// Calls may come from any thread.
public protocol BatchMemory: AnyObject, Sendable {
    /// Returns what a batch with this digest was like; nil if none is known.
    func summary(of digest: BatchDigest) -> BatchSummary?
}
