internal import BridgeKit

/// A place in the scans of several slices, as the host stores it: `s3.1709251200000000.5b1f p2 page:2`.
struct SlicePoint: Equatable {
    /// The index of the slice, from 0.
    var slice: Int
    /// The time from which the slices were derived, in microseconds since 1970.
    var now: Int64
    /// The digest of all slices, which a changed configuration or watermark changes.
    var digest: String
    /// The cursor in the slice, or nil for its beginning.
    var cursor: String?

    init(slice: Int, now: Int64, digest: String, cursor: String? = nil) {
        self.slice = slice
        self.now = now
        self.digest = digest
        self.cursor = cursor
    }

    /// - Returns: nil if the text is the cursor of a single listing. That of an earlier version leads to the beginning.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let head = parts.first, head.first == "s" else { return nil }
        let members = head.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        guard let first = members.first, let slice = Int(first), slice >= 0 else { return nil }
        self.slice = slice
        now = members.count == 3 ? Int64(members[1]) ?? TimeText.now() : TimeText.now()
        digest = members.count == 3 ? String(members[2]) : ""
        cursor = parts.count > 1 ? String(parts[1]) : nil
    }

    var text: String { "s\(slice).\(now).\(digest)" + (cursor.map { " \($0)" } ?? "") }

    /// Returns a digest of the slices that is the same in every process (FNV-1a).
    static func digest(of slices: [Slice]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for slice in slices {
            let values = slice.values.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
            for text in [slice.since ?? "", slice.until ?? ""] + values {
                for byte in Array(text.utf8) + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            }
        }
        return String(hash, radix: 16)
    }
}
