internal import TextFormats

/// The beginning of a body: its length and a digest, by which a later reply is known to begin with the same bytes.
struct ByteMark: Equatable {
    private(set) var count = 0
    private var digest = Fingerprint()
    /// The digest of a stored mark.
    private var stored: UInt64?

    init() {}

    /// - Returns: nil if the text is not one that ``text`` gives.
    init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, let count = Int(parts[0]), count >= 0, let value = UInt64(parts[1], radix: 36) else {
            return nil
        }
        self.count = count
        stored = value
    }

    var text: String { "\(count)-\(String(value, radix: 36))" }

    private var value: UInt64 { stored ?? digest.value }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        count += bytes.count
        digest.add(bytes)
    }

    static func == (one: ByteMark, other: ByteMark) -> Bool { one.count == other.count && one.value == other.value }
}
