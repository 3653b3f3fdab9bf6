import BridgeKit

/// A pattern for one name: literals, `*`, `?` and `{captures}`.
///
/// It compares whole characters, so a name matches in any Unicode normal form.
struct ComponentPattern: Sendable {
    private enum Piece: Equatable, Sendable {
        case literal([Character])
        case run
        case one
        case capture
    }

    let captureNames: [String]
    /// The name, if the pattern is a literal.
    let literal: String?
    private let pieces: [Piece]
    private let isCaseSensitive: Bool

    init(_ text: Substring, isCaseSensitive: Bool, refuse: (String) -> BridgeError) throws {
        self.isCaseSensitive = isCaseSensitive
        var pieces: [Piece] = []
        var names: [String] = []
        var literal = String.UnicodeScalarView()
        var whole = String.UnicodeScalarView()
        func flush() {
            guard !literal.isEmpty else { return }
            pieces.append(.literal(String(literal).map { isCaseSensitive ? $0 : Self.fold($0) }))
            literal.removeAll()
        }
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*":
                flush()
                guard pieces.last != .run else { throw refuse("** must stand alone between slashes") }
                pieces.append(.run)
            case "?":
                flush()
                pieces.append(.one)
            case "{" where rest.first != "{":
                flush()
                guard let end = rest.firstIndex(of: "}") else { throw refuse("a { has no }") }
                let name = String(rest[..<end])
                rest = rest[rest.index(after: end)...]
                guard Self.isName(name) else {
                    throw refuse(
                        "{\(name)} is not a capture: a name has letters, digits and _ and does not begin with a digit")
                }
                guard pieces.last != .capture, pieces.last != .run else {
                    throw refuse("nothing separates {\(name)} from what precedes it")
                }
                guard !names.contains(name) else { throw refuse("it captures {\(name)} twice") }
                names.append(name)
                pieces.append(.capture)
            case "}" where rest.first != "}": throw refuse("a } has no {; a brace itself is written twice")
            default:
                if scalar == "{" || scalar == "}" { rest.removeFirst() }
                literal.append(scalar)
                whole.append(scalar)
            }
            if pieces.count > 1, pieces[pieces.count - 2] == .capture, pieces[pieces.count - 1] == .run {
                throw refuse("nothing separates a capture from the * after it")
            }
        }
        flush()
        captureNames = names
        self.pieces = pieces
        var literalName: String?
        if case .literal? = pieces.first, pieces.count == 1 { literalName = String(whole) }
        self.literal = literalName
        // Parts follow the rules of whole names, except that "." and ".." are allowed.
        let isWhole = literalName != nil
        if let fault = ShareURL.fault(inName: isWhole ? String(whole) : "x" + String(whole)) {
            throw refuse("\"\(String(whole))\" \(fault)")
        }
    }

    /// Returns the captures in `name`, or nil if it does not match.
    ///
    /// Matching is greedy: each `*` and capture takes as much as it can, from the first to the last.
    func match(_ name: String) -> [String]? {
        switch pieces {
        case [.run]: return []
        case [.capture]: return [name]
        default: break
        }
        let original = Self.characters(of: name)
        let folded = isCaseSensitive ? original : original.map(Self.fold)
        var search = Search(pieces: pieces, name: folded)
        guard search.match(piece: 0, at: 0) else { return nil }
        return search.captures.reversed().map { range in
            String(original[range])
        }
    }

    /// A backtracking search that memoises dead ends, so that it takes at most pieces x length steps.
    private struct Search {
        let pieces: [Piece]
        let name: [Character]
        /// The captures from the last to the first, added while the search unwinds.
        var captures: [Range<Int>] = []
        private var deadEnds: Set<Int> = []

        init(pieces: [Piece], name: [Character]) {
            self.pieces = pieces
            self.name = name
        }

        mutating func match(piece: Int, at start: Int) -> Bool {
            guard piece < pieces.count else { return start == name.count }
            switch pieces[piece] {
            case .literal(let literal):
                let end = start + literal.count
                return end <= name.count && name[start..<end].elementsEqual(literal) && match(piece: piece + 1, at: end)
            case .one: return start < name.count && match(piece: piece + 1, at: start + 1)
            case .run, .capture:
                let isCapture = pieces[piece] == .capture
                let shortest = isCapture ? start + 1 : start
                guard shortest <= name.count, deadEnds.insert(piece * (name.count + 1) + start).inserted else {
                    return false
                }
                for end in (shortest...name.count).reversed() where match(piece: piece + 1, at: end) {
                    if isCapture { captures.append(start..<end) }
                    return true
                }
                return false
            }
        }
    }

    /// Returns a letter's lower case, if that is one character: close to the rules of servers, and it preserves the
    /// length.
    private static func fold(_ character: Character) -> Character {
        if let ascii = character.asciiValue {
            return "A"..."Z" ~= character ? Character(Unicode.Scalar(ascii + 32)) : character
        }
        let lower = character.lowercased()
        return lower.count == 1 ? lower.first ?? character : character
    }

    /// Returns the characters of a name, with a fast path for ASCII, which nearly all names are.
    private static func characters(of name: String) -> [Character] {
        let utf8 = name.utf8
        return utf8.allSatisfy { $0 < 0x80 } ? utf8.map { Character(Unicode.Scalar($0)) } : Array(name)
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else { return false }
        return text.unicodeScalars.allSatisfy {
            $0 == "_" || ($0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0))
        }
    }
}
