/// Orders names by how near they are to a misspelt one, for error messages.
public enum NearestName {
    /// `names` with the nearest first, at most 20 of them, quoted for a message: `"a", "b" and 3 more`.
    public static func list(_ names: some Sequence<String>, to wanted: String) -> String {
        let wantedBytes = Array(wanted.lowercased().utf8)
        let unique = Set(names)
        guard !unique.isEmpty else { return "none" }
        let sorted = unique.map { (distance(Array($0.lowercased().utf8), wantedBytes), $0) }.sorted { $0 < $1 }
        let shown = sorted.prefix(20).map { "\"\($0.1)\"" }.joined(separator: ", ")
        return sorted.count > 20 ? "\(shown) and \(sorted.count - 20) more" : shown
    }

    /// A question after what is wrong: ` (did you mean "a"?)`; empty where no name is near.
    public static func question(_ names: some Sequence<String>, to wanted: String) -> String {
        let wantedBytes = Array(wanted.lowercased().utf8)
        let near = names.map { (distance(Array($0.lowercased().utf8), wantedBytes), $0) }.min { $0 < $1 }
        guard let near, near.0 <= max(1, wantedBytes.count / 3) else { return "" }
        return " (did you mean \"\(near.1)\"?)"
    }

    /// How many letters were added, left out, replaced or swapped with their neighbour (optimal string alignment); of the
    /// first 64 bytes only.
    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        let a = Array(a.prefix(64))
        let b = Array(b.prefix(64))
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, beforeLast[j - 1] + 1) }
                row.append(best)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
