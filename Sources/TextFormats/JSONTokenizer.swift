/// A part of a JSON text.
package enum JSONToken: Equatable {
    case null
    case bool(Bool)
    /// A number in its original notation.
    case number(String)
    case string(String)
    /// The name of a member of the open object; its value follows.
    case key(String)
    case beginArray
    case endArray
    case beginObject
    case endObject
}

/// The reason why a text is not JSON.
package struct JSONFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// The offset of the fault, in bytes.
    package var offset: Int
    /// The fault at that offset.
    package var reason: String

    package init(offset: Int, reason: String) {
        self.offset = offset
        self.reason = reason
    }

    package var description: String { "no JSON: \(reason) at byte \(offset)" }
}

/// Reads a JSON text (RFC 8259) token by token, strictly and to its end.
///
/// It makes no tree: the caller decides what a value becomes, whether a name may occur twice, and which numbers it
/// accepts. simdjson reads the records of a scan; this is for small texts, such as a schema or a value of a column.
///
/// ```swift
/// var tokens = JSONTokenizer(text, maxDepth: 64)
/// while let token = try tokens.next() { ... }
/// ```
package struct JSONTokenizer {
    /// The offset of the last token.
    package private(set) var start = 0
    /// The offset behind the last token.
    package private(set) var offset = 0

    private let bytes: [UInt8]
    private let maxDepth: Int
    private var place = Place.value
    /// The open containers, the outermost first: whether each is an object.
    private var containers: [Bool] = []

    private enum Place {
        case value, firstElement, firstKey, key, afterValue, end
    }

    /// Creates a tokenizer.
    ///
    /// - Parameter maxDepth: The number of levels of nesting that are accepted; a plain value is one level.
    package init(_ bytes: [UInt8], maxDepth: Int) {
        self.bytes = bytes
        self.maxDepth = maxDepth
    }

    /// Returns the next token; nil at the end of the text.
    package mutating func next() throws(JSONFault) -> JSONToken? {
        switch place {
        case .end: return nil
        case .value: return try value()
        case .firstElement:
            skipSpace()
            if take("]") { return close(.endArray) }
            return try value()
        case .firstKey:
            skipSpace()
            if take("}") { return close(.endObject) }
            return try key()
        case .key: return try key()
        case .afterValue: return try afterValue()
        }
    }

    private mutating func afterValue() throws(JSONFault) -> JSONToken? {
        skipSpace()
        guard let isObject = containers.last else {
            guard offset == bytes.count else { throw fault("more text after the value") }
            place = .end
            return nil
        }
        if isObject {
            if take("}") { return close(.endObject) }
            guard take(",") else { throw fault("expected \",\" or \"}\"") }
            return try key()
        }
        if take("]") { return close(.endArray) }
        guard take(",") else { throw fault("expected \",\" or \"]\"") }
        return try value()
    }

    private mutating func key() throws(JSONFault) -> JSONToken {
        skipSpace()
        start = offset
        guard take("\"") else { throw fault("expected a name in quotes") }
        let name = try string()
        skipSpace()
        guard take(":") else { throw fault("expected \":\"") }
        place = .value
        return .key(name)
    }

    private mutating func value() throws(JSONFault) -> JSONToken {
        guard containers.count < maxDepth else { throw fault("more than \(maxDepth) levels of nesting") }
        skipSpace()
        start = offset
        if take("{") { return open(isObject: true) }
        if take("[") { return open(isObject: false) }
        place = .afterValue
        if take("\"") { return .string(try string()) }
        if take(word: "true") { return .bool(true) }
        if take(word: "false") { return .bool(false) }
        if take(word: "null") { return .null }
        return try number()
    }

    private mutating func open(isObject: Bool) -> JSONToken {
        containers.append(isObject)
        place = isObject ? .firstKey : .firstElement
        return isObject ? .beginObject : .beginArray
    }

    private mutating func close(_ token: JSONToken) -> JSONToken {
        start = offset - 1
        containers.removeLast()
        place = .afterValue
        return token
    }

    private mutating func number() throws(JSONFault) -> JSONToken {
        while offset < bytes.count, "+-.0123456789eE".utf8.contains(bytes[offset]) { offset += 1 }
        let text = bytes[start..<offset]
        guard text.withUnsafeBytes({ NumberGrammar.matches($0) }) else {
            let first = text.first { $0 != UInt8(ascii: "-") }
            offset = start
            if let first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) { throw fault("no number") }
            throw fault(start < bytes.count ? "expected a value" : "the text ends too early")
        }
        return .number(String(decoding: text, as: UTF8.self))
    }

    /// Reads the rest of a string after its opening quote.
    private mutating func string() throws(JSONFault) -> String {
        var text: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                offset += 1
                text.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20: throw fault("a control character in a string")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw fault("the string does not end")
    }

    private static let escapes: [(letter: Unicode.Scalar, scalar: Unicode.Scalar)] = [
        ("\"", "\""), ("\\", "\\"), ("/", "/"), ("b", "\u{8}"), ("f", "\u{C}"), ("n", "\n"), ("r", "\r"), ("t", "\t"),
    ]

    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        for (letter, scalar) in Self.escapes where take(letter) { return scalar }
        guard take("u") else { throw fault("unknown escape") }
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // A surrogate pair (RFC 8259, section 7).
        guard (0xD800...0xDBFF).contains(first), take("\\"), take("u") else { throw fault("half a surrogate pair") }
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw fault("half a surrogate pair") }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt16 {
        guard offset + 4 <= bytes.count,
            let value = UInt16(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
        else { throw fault("expected four hexadecimal digits") }
        offset += 4
        return value
    }

    private func fault(_ reason: String) -> JSONFault { JSONFault(offset: offset, reason: reason) }

    private mutating func skipSpace() {
        while offset < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset]) { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[offset...].starts(with: wanted) else { return false }
        offset += wanted.count
        return true
    }
}
