/// Which folders of a target use types of which others.
///
/// A folder uses another one if a file names a type that a file of the other one declares at the top level. Extensions
/// declare no type, and types within types count as their outer type.
struct FolderGraph {
    /// For each folder those that it uses, with an example.
    private(set) var uses: [String: [String: String]] = [:]

    /// - Parameter files: The Swift files of one target.
    init(_ files: [SourceTree.File]) {
        let sources = files.map { (folder: Self.folder(of: $0.path), path: $0.path, words: Words($0.text)) }
        var owners: [String: [(folder: String, path: String)]] = [:]
        for source in sources {
            for name in source.words.declared { owners[name, default: []].append((source.folder, source.path)) }
        }
        for source in sources {
            for name in source.words.used.sorted() {
                for owner in owners[name] ?? [] where owner.folder != source.folder {
                    uses[source.folder, default: [:]][owner.folder] = "\(source.path) uses \(name) of \(owner.path)"
                }
            }
        }
    }

    /// The folders on cycles, with an example of each use among them; empty if there is no cycle.
    var cycles: [String] {
        var left = Set(uses.keys)
        // A folder on a cycle uses another one and is used by another one.
        while let outside = left.first(where: { folder in
            left.isDisjoint(with: uses[folder, default: [:]].keys)
                || !left.contains { uses[$0]?[folder] != nil }
        }) {
            left.remove(outside)
        }
        return left.sorted().flatMap { folder in
            uses[folder, default: [:]].filter { left.contains($0.key) }.map(\.value).sorted()
        }
    }

    /// The types that a Swift source declares at the top level, besides private ones.
    static func types(declaredIn source: String) -> Set<String> { Words(source).declared }

    /// The folder of a file below its target's folder.
    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropFirst(2).dropLast().joined(separator: "/")
    }
}

/// The types that a Swift source declares at the top level, and its words in capitals outside of comments and strings.
private struct Words {
    private(set) var declared: Set<String> = []
    private(set) var used: Set<String> = []
    /// The words of a declaration that begins at the left margin; nil after its name, and in other lines.
    private var heading: [String]?

    private static let keywords: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    /// The words before a keyword that make a line no declaration of a type that other files see.
    private static let others: Set<String> = ["private", "fileprivate", "func", "var", "let", "extension", "import"]

    init(_ source: String) {
        var source = source
        source.withUTF8 { read($0) }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
        var index = 0
        var isLineStart = true
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\n"): isLineStart = true
            case UInt8(ascii: "\""):
                let isBlock = Self.matches(bytes, index, "\"\"\"")
                index = Self.end(isBlock ? "\"\"\"" : "\"", bytes, from: index + (isBlock ? 3 : 1), escapes: true)
                continue
            case UInt8(ascii: "/") where Self.matches(bytes, index, "//"):
                index = Self.end("\n", bytes, from: index, escapes: false)
                isLineStart = true
                continue
            case UInt8(ascii: "/") where Self.matches(bytes, index, "/*"):
                index = Self.end("*/", bytes, from: index, escapes: false)
                continue
            case _ where Self.isWord(byte):
                let start = index
                while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
                if isLineStart { heading = [] }
                isLineStart = false
                note(String(decoding: bytes[start..<index], as: UTF8.self))
                continue
            default:
                // An attribute may precede the words of a declaration, on a line of its own.
                if isLineStart, byte != UInt8(ascii: "@") { heading = nil }
                isLineStart = false
                if byte == UInt8(ascii: "@") { heading = heading ?? [] }
            }
            index += 1
        }
    }

    private mutating func note(_ word: String) {
        if let first = word.utf8.first, first >= UInt8(ascii: "A"), first <= UInt8(ascii: "Z") { used.insert(word) }
        guard let words = heading else { return }
        if let last = words.last, Self.keywords.contains(last) {
            if Self.others.isDisjoint(with: words) { declared.insert(word) }
            heading = nil
        } else {
            heading?.append(word)
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z"))
            || (byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z"))
            || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")) || byte == UInt8(ascii: "_")
    }

    private static func matches(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int, _ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard index + length <= bytes.count else { return false }
        for offset in 0..<length where bytes[index + offset] != text.utf8Start[offset] { return false }
        return true
    }

    /// Returns the index after the next `text`, or the end.
    private static func end(
        _ text: StaticString, _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, escapes: Bool
    ) -> Int {
        var index = start
        while index < bytes.count, !matches(bytes, index, text) {
            index += escapes && bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + text.utf8CodeUnitCount, bytes.count)
    }
}
