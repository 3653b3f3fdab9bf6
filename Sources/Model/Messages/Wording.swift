internal import TextFormats

/// Returns `text` in quotes for a message, shortened and with control characters escaped.
func quoted(_ text: String) -> String { "\"\(shortened(text))\"" }

func shortened(_ text: String) -> String {
    var result = ""
    for (count, character) in text.unicodeScalars.enumerated() {
        if count == 60 { return result + "..." }
        let isPrintableASCII = (0x20..<0x7F).contains(character.value)
        if !isPrintableASCII, [.control, .format].contains(character.properties.generalCategory) {
            result += character.escape
        } else {
            result.unicodeScalars.append(character)
        }
    }
    return result
}

/// Returns the words as `a, b or c`.
func alternatives(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

/// Returns a hint such as `did you mean "attributes"? valid: attributes, bridge, key`; the first part only for a near
/// match.
package func suggestion(for name: String, among valid: [String], what: String = "valid") -> String? {
    hint(valid.sorted(), what) { nearest(to: name, among: $0) }
}

private func hint(_ list: [String], _ what: String, nearest: ([String]) -> String?) -> String? {
    guard !list.isEmpty else { return nil }
    let shown = list.prefix(20).joined(separator: ", ") + (list.count > 20 ? ", ..." : "")
    guard let nearest = nearest(list) else { return "\(what): \(shown)" }
    return "did you mean \(quoted(nearest))? \(what): \(shown)"
}

/// Valid names that are sorted once for many hints.
///
/// A file may have thousands of entities, and as many wrong names of them.
struct ValidNames {
    private let sorted: [String]
    private let byLowercase: [String: String]

    init(_ names: [String]) {
        sorted = names.sorted()
        byLowercase = Dictionary(sorted.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the same hint as ``suggestion(for:among:what:)``.
    func suggestion(for name: String, what: String) -> String? {
        hint(sorted, what) { list in
            guard name.unicodeScalars.count <= 64 else { return nil }
            return byLowercase[name.lowercased()] ?? nearest(to: name, among: Array(list.prefix(mostCompared)))
        }
    }
}

/// The number of names that a wrong one is compared with.
private let mostCompared = 500

/// Returns the candidate that `name` is probably a typo of; nil if none is near.
package func nearest(to name: String, among candidates: [String]) -> String? {
    guard name.unicodeScalars.count <= 64 else { return nil }
    if let same = candidates.first(where: { $0.lowercased() == name.lowercased() }) { return same }
    let limit = max(1, name.unicodeScalars.count / 3)
    let wanted = Array(name.lowercased().unicodeScalars)
    var best: (name: String, distance: Int)?
    for candidate in candidates.prefix(mostCompared) {
        let length = candidate.unicodeScalars.count
        guard length <= 64, !reverses(candidate, name) else { continue }
        let distance = editDistance(Array(candidate.lowercased().unicodeScalars), wanted)
        guard distance <= limit, distance < length, distance < best?.distance ?? .max else { continue }
        best = (candidate, distance)
    }
    return best?.name
}

/// Returns whether the first word of one name negates the other.
///
/// `in_process` resembles `child_process`, and `no_cache` resembles `cache`, in spelling only.
private func reverses(_ left: String, _ right: String) -> Bool {
    func word(_ name: String) -> Substring? {
        let words = name.lowercased().split { $0 == "_" || $0 == "-" }
        guard words.count > 1, let first = words.first else { return nil }
        return ["in", "no", "not", "non", "never", "without", "out"].contains(first) ? first : nil
    }
    func lacks(_ word: Substring?, _ name: String) -> Bool { word.map { !name.lowercased().hasPrefix($0) } ?? false }
    return lacks(word(left), right) || lacks(word(right), left)
}
