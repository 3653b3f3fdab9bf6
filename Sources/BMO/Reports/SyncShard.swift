internal import TextFormats

/// One of several syncs that divide a remote among them, each with a database of its own: the second of four, say.
///
/// ```swift
/// let shard = SyncShard("2/4")
/// let report = try await workspace.sync(into: store, Workspace.SyncOptions(shard: shard))
/// ```
///
/// What a shard has depends on names and keys only: it is the same on every machine and in every version.
public struct SyncShard: Sendable, Equatable, CustomStringConvertible {
    /// The number of this shard, from 1.
    public let number: Int
    /// The number of shards.
    public let count: Int

    /// The largest number of shards.
    public static let most = 10_000

    /// Reads a text such as `2/4`; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let number = Int(parts[0]), let count = Int(parts[1]), (1...Self.most).contains(count),
            (1...count).contains(number)
        else { return nil }
        self.number = number
        self.count = count
    }

    /// The text that ``init(_:)`` reads.
    public var description: String { "\(number)/\(count)" }

    /// Whether what this text names belongs to this shard.
    func owns(_ text: String) -> Bool {
        var fingerprint = Fingerprint()
        fingerprint.add(text)
        // The low bits of the hash of similar texts are similar: mixed as in SplitMix64.
        var hash = fingerprint.value
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        hash ^= hash >> 31
        return hash % UInt64(count) == UInt64(number - 1)
    }
}
