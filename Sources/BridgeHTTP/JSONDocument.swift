internal import Glibc

/// A small JSON text, such as the reply of a token endpoint, parsed as a whole and queried by path.
///
/// Not for records, which are copied from the text to the batch directly.
indirect enum JSONDocument {
    case null
    case bool(Bool)
    case number(String)
    case text(String)
    case array([JSONDocument])
    case object([String: JSONDocument])

    private static let deepest = 64

    /// Parses a text (RFC 8259); nil if it is not JSON.
    init?(_ bytes: [UInt8]) {
        var parser = Parser(bytes: bytes)
        guard let value = parser.value(depth: 0) else { return nil }
        parser.space()
        guard parser.at == bytes.count else { return nil }
        self = value
    }

    /// Returns the value at `$.a.b` as text; nil for a missing value or an object.
    func text(at path: String) -> String? {
        var value = self
        for name in path.split(separator: ".") where name != "$" {
            guard case .object(let members) = value, let next = members[String(name)] else { return nil }
            value = next
        }
        switch value {
        case .text(let text), .number(let text): return text
        case .bool(let value): return value ? "true" : "false"
        case .null, .array, .object: return nil
        }
    }

    private struct Parser {
        let bytes: [UInt8]
        var at = 0

        mutating func space() {
            while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
        }

        mutating func take(_ text: StaticString) -> Bool {
            let isThere = text.withUTF8Buffer { bytes[at...].starts(with: $0) }
            if isThere { at += text.utf8CodeUnitCount }
            return isThere
        }

        mutating func value(depth: Int) -> JSONDocument? {
            space()
            guard at < bytes.count, depth < JSONDocument.deepest else { return nil }
            switch bytes[at] {
            case UInt8(ascii: "{"): return object(depth: depth)
            case UInt8(ascii: "["): return array(depth: depth)
            case UInt8(ascii: "\""): return string().map(JSONDocument.text)
            case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
            case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
            case UInt8(ascii: "n"): return take("null") ? .null : nil
            default:
                let number = bytes[at...].prefix { "+-.eE0123456789".utf8.contains($0) }
                guard !number.isEmpty else { return nil }
                at = number.endIndex
                return .number(String(decoding: number, as: UTF8.self))
            }
        }

        mutating func object(depth: Int) -> JSONDocument? {
            at += 1
            var members: [String: JSONDocument] = [:]
            space()
            if take("}") { return .object([:]) }
            while true {
                space()
                guard at < bytes.count, bytes[at] == UInt8(ascii: "\""), let name = string() else { return nil }
                space()
                guard take(":"), let value = value(depth: depth + 1) else { return nil }
                members[name] = value
                space()
                if take("}") { return .object(members) }
                guard take(",") else { return nil }
            }
        }

        mutating func array(depth: Int) -> JSONDocument? {
            at += 1
            var values: [JSONDocument] = []
            space()
            if take("]") { return .array([]) }
            while true {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
                space()
                if take("]") { return .array(values) }
                guard take(",") else { return nil }
            }
        }

        mutating func string() -> String? {
            at += 1
            var out: [UInt8] = []
            while at < bytes.count {
                let byte = bytes[at]
                at += 1
                switch byte {
                case UInt8(ascii: "\""): return String(validating: out, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let scalar = escape() else { return nil }
                    out += Array(String(scalar).utf8)
                default: out.append(byte)
                }
            }
            return nil
        }

        mutating func escape() -> Unicode.Scalar? {
            guard at < bytes.count else { return nil }
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{C}"
            case UInt8(ascii: "u"):
                guard let high = hex() else { return nil }
                guard high & 0xFC00 == 0xD800, take("\\u"), let low = hex(), low & 0xFC00 == 0xDC00 else {
                    return Unicode.Scalar(high)
                }
                return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
            default: return Unicode.Scalar(byte)
            }
        }

        mutating func hex() -> UInt32? {
            guard at + 4 <= bytes.count else { return nil }
            defer { at += 4 }
            return UInt32(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
        }
    }
}
