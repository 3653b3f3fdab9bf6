package import Mapping
internal import RecordBatch
internal import TextFormats

/// JSON of local values as bytes (RFC 8259), as stored in the tables of history, provenance and stubs.
///
/// Text is a string. Bytes are `{"base64": "..."}`, or just the string in a key, where the column gives the type. A
/// real has a decimal point or an exponent, which distinguishes it from an integer.
package struct JSONText {
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty text.
    package init() {}

    package var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns a key as an array: `["FR"]`, `[7]`.
    package static func key(_ parts: some Sequence<Cell>) -> JSONText {
        var text = JSONText()
        text.append("[")
        for (index, part) in parts.enumerated() {
            if index > 0 { text.append(",") }
            if part.kind == .bytes { text.append(base64: part.rawBytes) } else { text.append(part) }
        }
        text.append("]")
        return text
    }

    /// Returns a key as an array.
    package static func key(_ parts: some Sequence<StoredValue>) -> JSONText {
        var text = JSONText()
        text.append("[")
        for (index, part) in parts.enumerated() {
            if index > 0 { text.append(",") }
            text.append(keyPart: part)
        }
        text.append("]")
        return text
    }

    /// Returns a part of a key as keys have it; bytes among an object's values contain this text, too.
    package static func keyPart(_ part: StoredValue) -> String {
        var text = JSONText()
        text.append(keyPart: part)
        return text.string
    }

    private mutating func append(keyPart part: StoredValue) {
        if case .bytes(let bytes) = part {
            bytes.withUnsafeBytes { append(base64: $0) }
        } else {
            append(part)
        }
    }

    /// Returns a list of keys as an array of arrays.
    package static func keys(_ keys: [[StoredValue]]) -> JSONText {
        var text = JSONText()
        text.append("[")
        for (index, key) in keys.enumerated() {
            if index > 0 { text.append(",") }
            text.append(.key(key))
        }
        text.append("]")
        return text
    }

    /// Returns one value, for a message.
    package static func value(_ value: StoredValue) -> String {
        var text = JSONText()
        text.append(value)
        return text.string
    }

    /// Returns an object of columns.
    package static func object(_ members: some Sequence<(name: String, value: StoredValue)>) -> JSONText {
        var text = JSONText()
        text.append("{")
        for (name, value) in members {
            text.beginMember(name)
            text.append(value)
        }
        text.append("}")
        return text
    }

    package mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(_ text: JSONText) { bytes += text.bytes }

    package mutating func append(number: Int) { bytes.append(contentsOf: String(number).utf8) }

    /// Begins a member of an object: writes a comma if needed, the name and a colon.
    package mutating func beginMember(_ name: String) {
        if bytes.last != UInt8(ascii: "{") { append(",") }
        append(string: name)
        append(":")
    }

    package mutating func append(_ cell: Cell) {
        switch cell.storage {
        case .absent, .null: append("null")
        case .integer: bytes.append(contentsOf: String(cell.integer).utf8)
        case .real: append(cell.real)
        case .text: append(utf8: cell.rawBytes)
        case .bytes: appendObject(cell.rawBytes)
        }
    }

    package mutating func append(_ value: StoredValue) {
        switch value.form {
        case .null: append("null")
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .real(let value): append(value)
        case .text(let value): append(string: value)
        case .bytes(let value): value.withUnsafeBytes { appendObject($0) }
        }
    }

    package mutating func append(string: String) {
        var string = string
        string.withUTF8 { append(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Appends the shortest text that reads back as the same number; an infinity becomes a number that is too large.
    private mutating func append(_ real: Double) {
        if real.isFinite {
            bytes.append(contentsOf: "\(real)".utf8)
        } else {
            append(real < 0 ? "-9e999" : "9e999")
        }
    }

    private mutating func appendObject(_ value: UnsafeRawBufferPointer) {
        append("{\"base64\":")
        append(base64: value)
        append("}")
    }

    private mutating func append(base64 value: UnsafeRawBufferPointer) {
        append("\"")
        bytes.append(contentsOf: Base64.encode(value).utf8)
        append("\"")
    }

    /// Appends a string with the same escapes as `appendJSONString`, including the C1 controls (C2 80 to C2 9F in
    /// UTF-8).
    private mutating func append(utf8 text: UnsafeRawBufferPointer) {
        append("\"")
        var plain = 0
        var index = 0
        while index < text.count {
            let byte = text[index]
            let isC1 = byte == 0xC2 && index + 1 < text.count && text[index + 1] < 0xA0
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || isC1 else {
                index += 1
                continue
            }
            bytes.append(contentsOf: text[plain..<index])
            switch byte {
            case 0x22: append("\\\"")
            case 0x5C: append("\\\\")
            case 0x0A: append("\\n")
            case 0x0D: append("\\r")
            case 0x09: append("\\t")
            default:
                append("\\u00")
                let value = isC1 ? text[index + 1] : byte
                for digit in [value >> 4, value & 15] {
                    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                }
            }
            index += isC1 ? 2 : 1
            plain = index
        }
        bytes.append(contentsOf: text[plain...])
        append("\"")
    }
}
