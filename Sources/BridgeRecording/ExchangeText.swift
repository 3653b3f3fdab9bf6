internal import TextFormats

/// Formats bodies for reading: JSON and XML with one line per member; any other text stays as it is.
///
/// Only white space between tokens changes; numbers and strings keep their exact characters. `replace` may substitute
/// strings and numbers in JSON, and elements and attributes in XML; it receives each with its name.
enum ExchangeText {
    typealias Replacement = (_ name: String, _ value: String, _ isNumber: Bool) -> String?

    /// Returns the recorded form of a body.
    ///
    /// Bytes that are not text, or whose lines do not end with a line feed, stay bytes.
    ///
    /// - Parameter plain: Returns what to keep of text that is neither JSON nor XML.
    static func body(
        _ bytes: [UInt8], plain: (String) -> String = { $0 }, replace: Replacement
    ) -> ExchangeFile.Body {
        guard !bytes.isEmpty else { return .none }
        guard let text = String(validUTF8: bytes), !bytes.contains(0) else { return .bytes(bytes) }
        if let json = JSONLayout.text(bytes, replace: replace) { return .text(json) }
        if let lines = JSONLayout.lines(text, replace: replace) { return .text(lines) }
        if let xml = XMLLayout.text(text, replace: replace) { return .text(xml) }
        return bytes.contains(0x0D) ? .bytes(bytes) : .text(plain(text))
    }
}

/// Formats one JSON text (RFC 8259); nil for any other text.
struct JSONLayout {
    private let bytes: [UInt8]
    private var at = 0
    private var out: [UInt8] = []
    private let isOneLine: Bool
    private let replace: ExchangeText.Replacement
    private static let maxDepth = 200

    static func text(_ bytes: [UInt8], replace: ExchangeText.Replacement) -> String? {
        withoutActuallyEscaping(replace) { replace in
            var layout = JSONLayout(bytes: bytes, replace: replace)
            layout.skipSpace()
            // A single scalar gains nothing from formatting.
            guard let first = layout.peek, first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
                layout.value(name: "", depth: 0)
            else { return nil }
            layout.skipSpace()
            return layout.peek == nil ? String(validUTF8: layout.out) : nil
        }
    }

    /// Formats a text with one JSON object per line, and keeps the lines; nil for any other text.
    ///
    /// A line that is not a JSON object stays as it is.
    static func lines(_ text: String, replace: ExchangeText.Replacement) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 1, lines.first(where: { !$0.isEmpty })?.hasPrefix("{") == true else { return nil }
        return withoutActuallyEscaping(replace) { replace in
            lines.map { line in
                var layout = JSONLayout(bytes: Array(line.utf8), isOneLine: true, replace: replace)
                guard layout.peek == UInt8(ascii: "{"), layout.value(name: "", depth: 0) else { return String(line) }
                layout.skipSpace()
                return layout.peek == nil ? String(decoding: layout.out, as: UTF8.self) : String(line)
            }.joined(separator: "\n")
        }
    }

    private init(bytes: [UInt8], isOneLine: Bool = false, replace: @escaping ExchangeText.Replacement) {
        self.bytes = bytes
        self.isOneLine = isOneLine
        self.replace = replace
    }

    private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) { at += 1 }
    }

    private mutating func newLine(_ depth: Int) {
        guard !isOneLine else { return }
        out.append(0x0A)
        out.append(contentsOf: repeatElement(0x20, count: 2 * depth))
    }

    private mutating func value(name: String, depth: Int) -> Bool {
        guard depth < Self.maxDepth, let first = peek else { return false }
        switch first {
        case UInt8(ascii: "{"): return list(UInt8(ascii: "}"), depth: depth, name: nil)
        case UInt8(ascii: "["): return list(UInt8(ascii: "]"), depth: depth, name: name)
        case UInt8(ascii: "\""):
            guard let string = string() else { return false }
            let text = String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
            if let other = replace(name, text, false) {
                out += Array("\"\(other)\"".utf8)
            } else {
                out += string
            }
            return true
        default:
            let start = at
            while let byte = peek, byte > 0x20, !#",:]}[{""#.utf8.contains(byte) { at += 1 }
            let word = bytes[start..<at]
            if let byte = word.first, byte == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte,
                let other = replace(name, String(decoding: word, as: UTF8.self), true)
            {
                out += Array("\"\(other)\"".utf8)
            } else {
                out += word
            }
            return at > start
        }
    }

    /// Formats an object if `name` is nil, else an array, whose elements count under the array's name.
    private mutating func list(_ end: UInt8, depth: Int, name: String?) -> Bool {
        out.append(bytes[at])
        at += 1
        skipSpace()
        if peek == end {
            at += 1
            out.append(end)
            return true
        }
        while true {
            newLine(depth + 1)
            skipSpace()
            var member = name ?? ""
            if name == nil {
                guard peek == UInt8(ascii: "\""), let key = string() else { return false }
                member = String(decoding: key.dropFirst().dropLast(), as: UTF8.self)
                out += key + Array(": ".utf8)
                skipSpace()
                guard peek == UInt8(ascii: ":") else { return false }
                at += 1
                skipSpace()
            }
            guard value(name: member, depth: depth + 1) else { return false }
            skipSpace()
            guard let byte = peek else { return false }
            at += 1
            if byte == end {
                newLine(depth)
                out.append(end)
                return true
            }
            guard byte == UInt8(ascii: ",") else { return false }
            out.append(byte)
            if isOneLine { out.append(0x20) }
        }
    }

    /// Returns the string at the cursor, with its quotation marks.
    private mutating func string() -> ArraySlice<UInt8>? {
        let start = at
        at += 1
        while let byte = peek {
            at += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return bytes[start..<at] }
            if byte < 0x20 { return nil }
        }
        return nil
    }
}
