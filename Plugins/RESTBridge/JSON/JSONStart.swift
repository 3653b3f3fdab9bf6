/// Recognises JSON by its first bytes.
enum JSONStart {
    /// Whether a text begins as JSON does, and as no table would: a table may begin with a bracket.
    static func isLikely(_ bytes: some Sequence<UInt8>) -> Bool {
        var words = bytes.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }.filter { $0 > 0x20 }[...]
        guard let first = words.popFirst(), first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
            return false
        }
        guard let second = words.first else { return true }
        return "\"{}[]".utf8.contains(second)
    }
}
