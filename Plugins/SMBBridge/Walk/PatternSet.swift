import BridgeKit

/// The patterns of the paths that an entity includes and excludes.
struct PatternSet: Sendable {
    /// A path's position in one of the patterns.
    struct Position: Sendable, Equatable {
        let pattern: Int
        let position: PathPattern.Position
    }

    let patterns: [PathPattern]
    private let excludes: [PathPattern]
    /// The folder where a scan begins: the literal folders common to the beginnings of all patterns.
    let root: [String]
    /// The names of all captures, each once.
    let captureNames: [String]
    /// The number of folder levels below ``root`` that are listed.
    let depth: Int

    /// The patterns, and what else selects paths, for messages.
    var words: String {
        let without = excludes.isEmpty ? "" : ", without " + excludes.map(\.text).joined(separator: ", ")
        return text + without + (depth == .max ? "" : ", to the depth \(depth)")
    }

    /// The patterns as text, for messages and cursors.
    var text: String { patterns.map(\.text).joined(separator: ", ") }
    /// Whether the patterns name exactly one path.
    var isLiteral: Bool { patterns.count == 1 && patterns[0].isLiteral }

    /// The selection for which a cursor and a token are valid.
    var question: String {
        ([text] + excludes.map { "-" + $0.text } + (depth == .max ? [] : ["\(depth)"])).joined(separator: "\u{1F}")
    }

    /// - Throws: ``BridgeError`` that describes the fault in a text.
    init(_ texts: [String], excluding excluded: [String] = [], depth: Int? = nil, isCaseSensitive: Bool = false) throws
    {
        guard !texts.isEmpty else {
            throw BridgeError(
                .configuration, "there is no pattern", remedy: "write it like countries/{country}/*.txt")
        }
        patterns = try texts.map { try PathPattern($0, isCaseSensitive: isCaseSensitive) }
        excludes = try excluded.map { text in
            let pattern = try PathPattern(text, isCaseSensitive: isCaseSensitive)
            guard pattern.captureNames.isEmpty else {
                throw BridgeError(
                    .configuration, "exclude: the pattern \"\(text)\" captures {\(pattern.captureNames[0])}",
                    remedy: "write * instead")
            }
            return pattern
        }
        if let depth, depth < 0 { throw BridgeError(.configuration, "depth: \(depth) is below 0") }
        self.depth = depth ?? .max
        var common = patterns[0].literalFolders
        for pattern in patterns.dropFirst() {
            let shared = zip(common, pattern.literalFolders).prefix { $0.isSame(as: $1) }
            common.removeLast(common.count - shared.count)
        }
        root = common
        var names: [String] = []
        for name in patterns.flatMap(\.captureNames) where !names.contains(name) { names.append(name) }
        captureNames = names
    }

    /// The positions of a scan in ``root``.
    var start: [Position] {
        patterns.enumerated().flatMap { index, pattern in
            pattern.start(behind: root.count).map { Position(pattern: index, position: $0) }
        }
    }

    /// Returns the positions in the folder `name` of a folder with `positions`; empty if nothing below can match.
    func descend(from positions: [Position], into name: String) -> [Position] {
        var result: [Position] = []
        for index in patterns.indices {
            let own = positions.filter { $0.pattern == index }.map(\.position)
            guard !own.isEmpty else { continue }
            result += patterns[index].descend(from: own, into: name).map { Position(pattern: index, position: $0) }
        }
        return result
    }

    /// Returns the first pattern that a name in a folder with `positions` completes, and its captures.
    ///
    /// The captures are in the order of ``captureNames``, nil if the pattern lacks the capture.
    func match(_ name: String, at positions: [Position]) -> (pattern: Int, captures: [String?])? {
        for index in patterns.indices {
            for position in positions where position.pattern == index {
                guard let captures = patterns[index].match(name, at: position.position) else { continue }
                guard patterns.count > 1 else { return (index, captures) }
                let names = patterns[index].captureNames
                return (index, captureNames.map { name in names.firstIndex(of: name).map { captures[$0] } })
            }
        }
        return nil
    }

    /// Whether a scan returns what is at a path.
    func includes(_ path: [String]) -> Bool {
        guard path.count - 1 - root.count <= min(depth, FolderWalk.maximumDepth) else { return false }
        let isExcluded = path.indices.dropFirst(root.count).contains { excludes(Array(path[...$0])) }
        return !isExcluded && captures(of: path) != nil
    }

    /// Whether a path below ``root`` may match, or may be a folder with a match.
    func concerns(_ path: [String]) -> Bool {
        for count in path.indices where excludes(Array(path[...count])) { return false }
        if path.last?.hasPrefix(SMBEntry.temporaryPrefix) == true { return false }
        var positions = start
        for (index, name) in path.enumerated().dropFirst(root.count) {
            if index == path.count - 1, match(name, at: positions) != nil { return true }
            positions = descend(from: positions, into: name)
            if positions.isEmpty { return false }
        }
        return true
    }

    /// Returns the captures of a path by name, from the first pattern that matches it; nil if none does.
    func captures(of path: [String]) -> [String: String]? {
        for pattern in patterns {
            guard let captures = pattern.captures(of: path) else { continue }
            return Dictionary(zip(pattern.captureNames, captures), uniquingKeysWith: { first, _ in first })
        }
        return nil
    }

    /// The folder that all matches are in; nil if they may be in several.
    var onlyFolder: [String]? {
        patterns.allSatisfy { $0.hasOneFolder && $0.literalFolders == patterns[0].literalFolders }
            ? patterns[0].literalFolders : nil
    }

    var hasExcludes: Bool { !excludes.isEmpty }

    /// Whether a path and everything below it are excluded.
    func excludes(_ path: [String]) -> Bool { excludes.contains { $0.matches(path) } }
}
