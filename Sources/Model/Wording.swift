/// `text` in quotes for a message: cut to a readable length, with control characters escaped.
func quoted(_ text: String) -> String { "\"\(shortened(text))\"" }

func shortened(_ text: String) -> String {
    var result = ""
    for (count, character) in text.unicodeScalars.enumerated() {
        if count == 60 { return result + "..." }
        if character.properties.generalCategory == .control || character.properties.generalCategory == .format {
            result += "\\u{\(String(character.value, radix: 16))}"
        } else {
            result.unicodeScalars.append(character)
        }
    }
    return result
}

/// `a, b or c`.
func alternatives(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

/// `did you mean "attributes"? valid: attributes, bridge, key`, with the nearest name only where one is near.
package func suggestion(for name: String, among valid: [String], what: String = "valid") -> String? {
    guard !valid.isEmpty else { return nil }
    let list = valid.sorted()
    let shown = list.prefix(20).joined(separator: ", ") + (list.count > 20 ? ", ..." : "")
    guard let nearest = nearest(to: name, among: list) else { return "\(what): \(shown)" }
    return "did you mean \(quoted(nearest))? \(what): \(shown)"
}

/// The name of `candidates` that a slip of the hand would turn into `name`; nil when none is near.
func nearest(to name: String, among candidates: [String]) -> String? {
    guard name.unicodeScalars.count <= 64 else { return nil }
    if let same = candidates.first(where: { $0.lowercased() == name.lowercased() }) { return same }
    let limit = max(1, name.unicodeScalars.count / 3)
    return candidates.prefix(500).filter { $0.unicodeScalars.count <= 64 }
        .map { (name: $0, distance: editDistance($0.lowercased(), name.lowercased())) }
        .filter { $0.distance <= limit && $0.distance < $0.name.unicodeScalars.count }
        .min { $0.distance < $1.distance }?.name
}

/// The distance of Damerau and Levenshtein in its optimal string alignment: insertions, deletions, replacements and
/// swaps of neighbours.
///
/// The model sees nothing of the bridges' modules, which have one of their own.
func editDistance(_ left: String, _ right: String) -> Int {
    let left = Array(left.unicodeScalars)
    let right = Array(right.unicodeScalars)
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for i in left.indices {
        var row = [i + 1]
        for j in right.indices {
            var best = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                best = min(best, beforeLast[j - 1] + 1)
            }
            row.append(best)
        }
        beforeLast = last
        last = row
    }
    return last[right.count]
}
