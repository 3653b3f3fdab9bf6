internal import TextFormats

/// Parses JSON text (RFC 8259) into a batch: it turns a representation shown to a person back into a record.
///
/// A number that is not an integer of 64 bits keeps its exact text. The batch's own limit bounds the nesting.
package struct JSONParser {
    /// The reason why a text is not JSON.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        /// The offset in bytes.
        package let offset: Int
        /// The fault at that offset.
        package let reason: String

        package var description: String { "no JSON: \(reason) at byte \(offset)" }
    }

    private static let deepest = 120
    private let bytes: [UInt8]
    private var at = 0
    private let writer = RecordBatchWriter()

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Parses `text` into a batch of one record.
    ///
    /// - Throws: ``Fault``; ``RecordBatchError`` if memory runs out.
    package static func batch(_ text: String) throws -> RecordBatch {
        var parser = JSONParser(text)
        try parser.value(depth: 1)
        parser.skipSpace()
        guard parser.at == parser.bytes.count else { throw parser.fault("more text after the value") }
        return try parser.writer.finish()
    }

    private func fault(_ reason: String) -> Fault { Fault(offset: at, reason: reason) }

    private mutating func skipSpace() {
        while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes[at...].starts(with: wanted) else { return false }
        at += wanted.count
        return true
    }

    private mutating func value(depth: Int) throws(Fault) {
        guard depth <= Self.deepest else { throw fault("more than \(Self.deepest) levels of nesting") }
        skipSpace()
        if take("{") {
            try object(depth: depth)
        } else if take("[") {
            try array(depth: depth)
        } else if take("\"") {
            writer.text(try string())
        } else if take(word: "true") {
            writer.bool(true)
        } else if take(word: "false") {
            writer.bool(false)
        } else if take(word: "null") {
            writer.null()
        } else {
            try number()
        }
    }

    private mutating func array(depth: Int) throws(Fault) {
        writer.beginArray()
        skipSpace()
        if !take("]") {
            while true {
                try value(depth: depth + 1)
                skipSpace()
                if take("]") { break }
                guard take(",") else { throw fault("expected \",\" or \"]\"") }
            }
        }
        writer.endArray()
    }

    private mutating func object(depth: Int) throws(Fault) {
        writer.beginObject()
        skipSpace()
        if !take("}") {
            while true {
                skipSpace()
                guard take("\"") else { throw fault("expected a name in quotes") }
                let name = try string()
                skipSpace()
                guard take(":") else { throw fault("expected \":\"") }
                writer.key(name)
                try value(depth: depth + 1)
                skipSpace()
                if take("}") { break }
                guard take(",") else { throw fault("expected \",\" or \"}\"") }
            }
        }
        writer.endObject()
    }

    private mutating func number() throws(Fault) {
        let start = at
        while at < bytes.count, "+-.0123456789eE".utf8.contains(bytes[at]) { at += 1 }
        let isNumber = bytes[start..<at].withUnsafeBytes { NumberGrammar.matches($0) }
        guard isNumber else {
            at = start
            throw fault("expected a value")
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        if let integer = Int64(text), text != "-0" { writer.int64(integer) } else { writer.decimal(text) }
    }

    /// Reads the rest of a string after its opening quote.
    private mutating func string() throws(Fault) -> String {
        var text: [UInt8] = []
        while at < bytes.count {
            let byte = bytes[at]
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                at += 1
                text.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20: throw fault("a control character in a string")
            default:
                text.append(byte)
                at += 1
            }
        }
        throw fault("the string has no end")
    }

    private mutating func escape() throws(Fault) -> Unicode.Scalar {
        let plain: [(Unicode.Scalar, Unicode.Scalar)] = [
            ("\"", "\""), ("\\", "\\"), ("/", "/"), ("b", "\u{8}"), ("f", "\u{C}"), ("n", "\n"), ("r", "\r"),
            ("t", "\t"),
        ]
        for (letter, scalar) in plain where take(letter) { return scalar }
        guard take("u") else { throw fault("an unknown escape") }
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

    private mutating func hexadecimal() throws(Fault) -> UInt16 {
        guard at + 4 <= bytes.count, let value = UInt16(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16)
        else { throw fault("expected four hexadecimal digits") }
        at += 4
        return value
    }
}
