/// Finds known secrets in text in any common spelling: for the host's messages and for recorded exchanges.
///
/// Each character of a secret may be plain, percent-encoded (RFC 3986, section 2.1; `+` for a space), escaped as in
/// JSON (RFC 8259, section 7: `\/`, `\n`, `\u0026` in either case) or as in XML (`&amp;`, `&#38;`, `&#x26;`),
/// percent-encoded twice as in a URL inside a URL, or escaped twice as in JSON inside JSON. The same holds for each
/// character of its base64 (RFC 4648, standard and URL alphabets), which is found alone and inside a longer text, as in
/// `Authorization: Basic`. Its hexadecimal digits are found, too. The time grows with the length of the text, not with
/// its content.
package struct SecretFinder: Sendable {
    /// An occurrence of a secret: its range, and its replacement.
    package struct Match: Sendable {
        package let range: Range<Int>
        package let mark: String
    }

    private struct Needle {
        /// The text's characters, each with its UTF-8.
        let characters: [(scalar: UInt32, bytes: [UInt8])]
        let isWord: Bool
        let mark: String
    }

    private var needles: [Needle] = []
    private var known: Set<String> = []
    /// The known secrets, the newest last.
    private var secrets: [String] = []
    private var fragments = SecretFragments()
    private let wholeWordsBelow: Int
    /// The needles that begin with a given UTF-8 byte, the longest first, so that a shorter match leaves no rest of a
    /// longer one.
    private var byFirst = [[Int]](repeating: [], count: 256)
    private var first = [Bool](repeating: false, count: 256)

    /// The most bytes of a text that a secret may take in any spelling.
    package private(set) var longest = 0

    /// - Parameters:
    ///   - secrets: Each with its replacement.
    ///   - wholeWordsBelow: A secret of fewer bytes is found only where it is a whole word.
    package init(_ secrets: [(text: String, mark: String)], wholeWordsBelow: Int = 4) {
        self.wholeWordsBelow = wholeWordsBelow
        // The characters that begin an escape.
        for byte in #"%\&"#.utf8 { first[Int(byte)] = true }
        for secret in secrets { add(secret.text, mark: secret.mark) }
    }

    /// Adds a secret; a known one keeps its mark.
    ///
    /// The thousandth secret takes no longer than the first.
    package mutating func add(_ secret: String, mark: String) {
        guard !secret.isEmpty, known.insert(secret).inserted else { return }
        secrets.append(secret)
        fragments = SecretFragments()
        let bytes = Array(secret.utf8)
        // Hexadecimal digits double the length, and escaping each takes six bytes.
        longest = max(longest, bytes.count * 12)
        for form in Self.forms(of: secret) {
            add(
                Needle(
                    characters: form.unicodeScalars.map { ($0.value, Array(String($0).utf8)) },
                    isWord: bytes.count < wholeWordsBelow, mark: mark))
        }
    }

    private mutating func add(_ needle: Needle) {
        guard let byte = needle.characters.first?.bytes.first.map({ Int($0) }) else { return }
        needles.append(needle)
        let count = needle.characters.count
        // Insert after needles of the same length.
        var (low, high) = (0, byFirst[byte].count)
        while low < high {
            let middle = (low + high) / 2
            if needles[byFirst[byte][middle]].characters.count >= count { low = middle + 1 } else { high = middle }
        }
        byFirst[byte].insert(needles.count - 1, at: low)
        first[byte] = true
        // A plus encodes a space.
        if byte == 0x20 { first[Int(UInt8(ascii: "+"))] = true }
    }

    /// Returns the text with secrets replaced by their marks.
    package func replacing(in text: String) -> String {
        guard !needles.isEmpty, !text.isEmpty else { return text }
        let bytes = Array(text.utf8)
        let found = matches(in: bytes)
        guard !found.isEmpty else { return text }
        var out: [UInt8] = []
        var start = 0
        for match in found {
            out += bytes[start..<match.range.lowerBound]
            out += Array(match.mark.utf8)
            start = match.range.upperBound
        }
        out += bytes[start...]
        return String(decoding: out, as: UTF8.self)
    }

    /// Returns a text for people with secrets and their fragments replaced by the mark: see `SecretFragments`.
    package static func masking(_ text: String, _ finders: [SecretFinder]) -> String {
        let bytes = Array(text.utf8)
        let found = matches(in: bytes, finders)
        return found.isEmpty ? text : masked(bytes, bytes.indices, found)
    }

    /// Returns a part of a text for people, with each secret that reaches into it, and fragments, replaced by the mark.
    package static func excerpt(of text: [UInt8], _ range: Range<Int>, _ finders: [SecretFinder]) -> String {
        let margin = min(finders.map(\.longest).max() ?? 0, 64 << 10)
        let from = max(0, range.lowerBound - margin)
        let wide = Array(text[from..<min(text.count, range.upperBound + margin)])
        return masked(wide, range.lowerBound - from..<range.upperBound - from, matches(in: wide, finders))
    }

    /// Returns the ranges of secrets and fragments, in order of their beginnings.
    private static func matches(in text: [UInt8], _ finders: [SecretFinder]) -> [Match] {
        finders.flatMap { finder in
            let pieces = finder.fragments.ranges(in: text, of: finder.secrets)
            return finder.matches(in: text) + pieces.map { Match(range: $0, mark: "***") }
        }.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    private static func masked(_ text: [UInt8], _ range: Range<Int>, _ matches: [Match]) -> String {
        var out: [UInt8] = []
        var at = range.lowerBound
        var isMarked = false
        for match in matches where match.range.upperBound > at && match.range.lowerBound < range.upperBound {
            if match.range.lowerBound > at {
                out += text[at..<match.range.lowerBound]
                isMarked = false
            }
            // A secret and a fragment that overlap or touch count as one match.
            if !isMarked { out += Array(match.mark.utf8) }
            isMarked = true
            at = min(match.range.upperBound, range.upperBound)
        }
        if at < range.upperBound { out += text[at..<range.upperBound] }
        return String(decoding: out, as: UTF8.self)
    }

    /// Returns the occurrences of secrets, in order.
    package func matches(in text: [UInt8]) -> [Match] {
        guard !needles.isEmpty else { return [] }
        var found: [Match] = []
        var at = 0
        while at < text.count {
            if first[Int(text[at])], let match = match(in: text, at: at) {
                found.append(match)
                at = match.range.upperBound
            } else {
                at += 1
            }
        }
        return found
    }

    private func match(in text: [UInt8], at start: Int) -> Match? {
        var candidates = byFirst[Int(text[start])]
        for unit in Self.units(in: text, at: start) {
            let lead =
                unit.isByte ? UInt8(truncatingIfNeeded: unit.value) : Unicode.Scalar(unit.value).map(Self.lead) ?? 0
            if lead != text[start] { candidates += byFirst[Int(lead)] }
        }
        for index in candidates {
            let needle = needles[index]
            guard let end = Self.end(of: needle, in: text, at: start) else { continue }
            if needle.isWord {
                if start > 0, Self.isWordByte(text[start - 1]) { continue }
                if end < text.count, Self.isWordByte(text[end]) { continue }
            }
            return Match(range: start..<end, mark: needle.mark)
        }
        return nil
    }

    private static func lead(_ scalar: Unicode.Scalar) -> UInt8 { String(scalar).utf8.first ?? 0 }

    /// Returns the end of the needle that begins here.
    ///
    /// A backslash or a percent sign of the secret may also begin an escape of itself, so all readings are followed.
    private static func end(of needle: Needle, in text: [UInt8], at start: Int) -> Int? {
        var place = start
        var count = 0
        // Most text is unescaped and has a single reading.
        for character in needle.characters {
            guard place < text.count else { return nil }
            let byte = text[place]
            if #"%\&+"#.utf8.contains(byte) || byte >= 0x80 || character.bytes.count > 1 { break }
            guard character.bytes[0] == byte else { return nil }
            place += 1
            count += 1
        }
        var places = [place]
        for character in needle.characters.dropFirst(count) {
            var next: [Int] = []
            for place in places {
                for end in ends(of: character, in: text, at: place) where !next.contains(end) { next.append(end) }
            }
            if next.isEmpty { return nil }
            places = next
        }
        return places.max()
    }

    private static func ends(
        of character: (scalar: UInt32, bytes: [UInt8]), in text: [UInt8], at start: Int
    ) -> [Int] {
        guard start < text.count else { return [] }
        var ends: [Int] = []
        // Byte by byte, with some bytes percent-encoded.
        var places = [start]
        for byte in character.bytes {
            var next: [Int] = []
            for place in places where place < text.count {
                if text[place] == byte { next.append(place + 1) }
                for unit in units(in: text, at: place) where unit.isByte && unit.value == UInt32(byte) {
                    next.append(unit.end)
                }
            }
            places = next
            if places.isEmpty { break }
        }
        ends += places
        for unit in units(in: text, at: start) where !unit.isByte && unit.value == character.scalar {
            ends.append(unit.end)
        }
        return ends
    }

    // MARK: Escapes

    /// Returns the bytes that the escape here encodes, and its end; nil if no escape begins here.
    static func escape(in text: [UInt8], at start: Int) -> (bytes: [UInt8], end: Int)? {
        // A plus is more likely a character of base64.
        guard text[start] != UInt8(ascii: "+"), let unit = units(in: text, at: start).first else { return nil }
        if unit.isByte { return ([UInt8(truncatingIfNeeded: unit.value)], unit.end) }
        return Unicode.Scalar(unit.value).map { (Array(String($0).utf8), unit.end) }
    }

    /// Decodes the JSON and XML escapes of a text.
    package static func unescaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var at = 0
        while at < bytes.count {
            let unit = units(in: bytes, at: at).first { !$0.isByte }
            if let unit, let scalar = Unicode.Scalar(unit.value) {
                out += Array(String(scalar).utf8)
                at = unit.end
            } else {
                out.append(bytes[at])
                at += 1
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// A byte or a character in an escaped spelling.
    private struct Unit {
        let value: UInt32
        let end: Int
        let isByte: Bool
    }

    /// Returns the escapes that begin here; several if formats read the same character differently.
    private static func units(in text: [UInt8], at start: Int) -> [Unit] {
        switch text[start] {
        case UInt8(ascii: "%"):
            guard let byte = number(in: text, at: start + 1, digits: 2) else { return [] }
            var units = [Unit(value: byte, end: start + 3, isByte: true)]
            // An encoded percent sign.
            if byte == 0x25, let inner = number(in: text, at: start + 3, digits: 2) {
                units.append(Unit(value: inner, end: start + 5, isByte: true))
            }
            return units
        case UInt8(ascii: "+"): return [Unit(value: 0x20, end: start + 1, isByte: true)]
        case UInt8(ascii: "\\"):
            return [backslash(in: text, at: start), escapedBackslash(in: text, at: start)].compactMap(\.self)
        case UInt8(ascii: "&"): return entity(in: text, at: start).map { [$0] } ?? []
        default: return []
        }
    }

    private static func backslash(in text: [UInt8], at start: Int) -> Unit? {
        guard start + 1 < text.count else { return nil }
        func one(_ value: UInt8) -> Unit { Unit(value: UInt32(value), end: start + 2, isByte: false) }
        switch text[start + 1] {
        case UInt8(ascii: "b"): return one(8)
        case UInt8(ascii: "f"): return one(12)
        case UInt8(ascii: "n"): return one(10)
        case UInt8(ascii: "r"): return one(13)
        case UInt8(ascii: "t"): return one(9)
        case UInt8(ascii: "x"):
            return number(in: text, at: start + 2, digits: 2).map { Unit(value: $0, end: start + 4, isByte: false) }
        case UInt8(ascii: "u"):
            guard let high = number(in: text, at: start + 2, digits: 4) else { return nil }
            guard 0xD800..<0xDC00 ~= high, start + 7 < text.count, text[start + 6] == UInt8(ascii: "\\"),
                text[start + 7] == UInt8(ascii: "u"), let low = number(in: text, at: start + 8, digits: 4),
                0xDC00..<0xE000 ~= low
            else { return Unit(value: high, end: start + 6, isByte: false) }
            return Unit(value: 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00), end: start + 12, isByte: false)
        case let byte where byte < 0x80 && !isWordByte(byte): return one(byte)
        default: return nil
        }
    }

    /// Reads an escape whose backslash is escaped, as in JSON inside JSON: `\\u0026`, `\\/`, `\\\"`.
    private static func escapedBackslash(in text: [UInt8], at start: Int) -> Unit? {
        let slash = UInt8(ascii: "\\")
        guard start + 2 < text.count, text[start + 1] == slash else { return nil }
        // The escaped character may be escaped itself.
        let inner = text[start + 2] == slash ? start + 2 : start + 1
        if inner == start + 2, start + 3 >= text.count { return nil }
        return backslash(in: text, at: inner)
    }

    private static let entities: [(name: [UInt8], value: UInt32)] = [
        ("amp", 0x26), ("lt", 0x3C), ("gt", 0x3E), ("quot", 0x22), ("apos", 0x27),
    ].map { (Array($0.0.utf8), $0.1) }

    private static func entity(in text: [UInt8], at start: Int) -> Unit? {
        guard let end = text[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = text[(start + 1)..<end]
        if let known = entities.first(where: { name.elementsEqual($0.name) }) {
            return Unit(value: known.value, end: end + 1, isByte: false)
        }
        guard name.first == UInt8(ascii: "#") else { return nil }
        let digits = String(decoding: name.dropFirst(), as: UTF8.self)
        let value =
            digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
        return value.map { Unit(value: $0, end: end + 1, isByte: false) }
    }

    private static func number(in text: [UInt8], at start: Int, digits: Int) -> UInt32? {
        guard start + digits <= text.count else { return nil }
        var value: UInt32 = 0
        for byte in text[start..<(start + digits)] {
            guard let digit = hexDigit(byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    // MARK: Other forms

    /// Returns the forms of a secret in texts: itself, its base64 and its hexadecimal digits.
    static func forms(of secret: String) -> Set<String> {
        let bytes = Array(secret.utf8)
        return base64(bytes).union(hexadecimal(bytes)).union([secret])
    }

    /// Returns the secret's digits in either case; none for a short secret, whose digits could be any number.
    private static func hexadecimal(_ secret: [UInt8]) -> Set<String> {
        guard secret.count >= 6 else { return [] }
        let digits = secret.map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 1 ? "0" + text : text
        }.joined()
        return [digits, digits.uppercased()]
    }

    /// Returns the secret's base64, and its invariant part at each of the three alignments in a longer text.
    private static func base64(_ secret: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        for shift in 0..<3 {
            let shifted = [UInt8](repeating: 0, count: shift) + secret
            let encoded = shifted.withUnsafeBytes { Base64.encode($0) }
            // The characters that hold bits of the secret only.
            let inner = encoded.prefix(shifted.count * 8 / 6).dropFirst(shift == 0 ? 0 : shift + 1)
            if inner.utf8.count >= 4 { found.insert(String(inner)) }
            if shift == 0 {
                found.insert(encoded)
                found.insert(encoded.filter { $0 != "=" })
            }
        }
        return found.union(found.map { $0.replacing("+", with: "-").replacing("/", with: "_") })
    }
}
