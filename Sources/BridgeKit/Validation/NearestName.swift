internal import RecordBatch
internal import TextFormats

/// Orders names by their distance from a misspelt one, for error messages.
public enum NearestName {
    /// Returns `names` with the nearest first, at most 20 of them, quoted for a message: `"a", "b" and 3 more`.
    public static func list(_ names: some Sequence<String>, to wanted: String) -> String {
        let wantedBytes = Array(wanted.lowercased().utf8)
        let unique = Set(names)
        guard !unique.isEmpty else { return "none" }
        let sorted = unique.map { (distance(Array($0.lowercased().utf8), wantedBytes), $0) }.sorted { $0 < $1 }
        let shown = sorted.prefix(20).map { "\"\($0.1)\"" }.joined(separator: ", ")
        return sorted.count > 20 ? "\(shown) and \(sorted.count - 20) more" : shown
    }

    /// Returns a question to append to a message: ` (did you mean "a"?)`; empty if no name is near.
    public static func question(_ names: some Sequence<String>, to wanted: String) -> String {
        let wantedBytes = Array(wanted.lowercased().utf8)
        let near = names.map { (distance(Array($0.lowercased().utf8), wantedBytes), $0) }.min { $0 < $1 }
        guard let near, near.0 <= max(1, wantedBytes.count / 3) else { return "" }
        return " (did you mean \"\(near.1)\"?)"
    }

    /// The edit distance of the first 64 bytes.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        editDistance(Array(a.prefix(64)), Array(b.prefix(64)))
    }
}
