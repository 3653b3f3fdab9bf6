internal import Glibc
internal import RecordBatch

/// Converts the text of a simple type to a typed value; text that does not fit its type remains text.
enum LexicalValue {
    /// Writes the value.
    ///
    /// - Returns: False if the text does not fit.
    @discardableResult
    static func write(_ text: UnsafeRawBufferPointer, as kind: SimpleKind, to writer: RecordBatchWriter) -> Bool {
        let fits =
            switch kind {
            case .text: writeText(text, to: writer)
            case .integer: writeInteger(XMLSpace.trimmed(text), to: writer)
            case .decimal: writeDecimal(XMLSpace.trimmed(text), to: writer)
            case .double: writeDouble(XMLSpace.trimmed(text), to: writer)
            case .boolean: writeBoolean(XMLSpace.trimmed(text), to: writer)
            case .base64: writeBase64(text, to: writer)
            case .hex: writeHex(XMLSpace.trimmed(text), to: writer)
            }
        if !fits { writer.text(utf8: text) }
        return fits
    }

    private static func writeText(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        writer.text(utf8: text)
        return true
    }

    /// Accepts the four spellings of XSD, and those of Visual Basic and Python.
    private static func writeBoolean(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        if equals(text, "true") || equals(text, "1") || equals(text, "True") || equals(text, "TRUE") {
            writer.bool(true)
        } else if equals(text, "false") || equals(text, "0") || equals(text, "False") || equals(text, "FALSE") {
            writer.bool(false)
        } else {
            return false
        }
        return true
    }

    private static func equals(_ text: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        text.count == word.utf8CodeUnitCount
            && memcmp(text.baseAddress ?? UnsafeRawPointer(word.utf8Start), word.utf8Start, text.count) == 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    /// Writes an Int64 if the value fits one, otherwise a decimal.
    private static func writeInteger(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        var index = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative || text.first == UInt8(ascii: "+") { index = 1 }
        guard index < text.count else { return false }
        var value: Int64 = 0
        while index < text.count {
            guard isDigit(text[index]) else { return false }
            let digit = Int64(text[index] - 0x30)
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowedToo) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflowed || overflowedToo { return writeDecimal(text, to: writer) }
            value = sum
            index += 1
        }
        writer.int64(value)
        return true
    }

    /// Converts a decimal of XSD (part 2, section 3.2.3) to the grammar of a JSON number: `+01.` to `1`, `.5` to `0.5`.
    private static func writeDecimal(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        if isJSONNumber(text) {
            writer.decimal(utf8: text)
            return true
        }
        var index = 0
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative || text.first == UInt8(ascii: "+") { index = 1 }
        let wholeStart = index
        while index < text.count, isDigit(text[index]) { index += 1 }
        let whole = text[wholeStart..<index]
        var fraction = text[index..<index]
        if index < text.count {
            guard text[index] == UInt8(ascii: ".") else { return false }
            fraction = text[(index + 1)...]
            guard fraction.allSatisfy(isDigit) else { return false }
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return false }
        var out: [UInt8] = isNegative ? [UInt8(ascii: "-")] : []
        let digits = whole.drop { $0 == 0x30 }
        out.append(contentsOf: digits)
        if digits.isEmpty { out.append(0x30) }
        if !fraction.isEmpty {
            out.append(UInt8(ascii: "."))
            out.append(contentsOf: fraction)
        }
        writer.decimal(String(decoding: out, as: UTF8.self))
        return true
    }

    /// Returns whether a decimal is already a JSON number (RFC 8259, section 6), as most are.
    private static func isJSONNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var index = text.first == UInt8(ascii: "-") ? 1 : 0
        let start = index
        while index < text.count, isDigit(text[index]) { index += 1 }
        guard index > start, text[start] != 0x30 || index == start + 1 else { return false }
        if index == text.count { return true }
        guard text[index] == UInt8(ascii: "."), index + 1 < text.count else { return false }
        index += 1
        while index < text.count, isDigit(text[index]) { index += 1 }
        return index == text.count
    }

    private static func writeDouble(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        if equals(text, "INF") || equals(text, "+INF") {
            writer.double(.infinity)
        } else if equals(text, "-INF") {
            writer.double(-.infinity)
        } else if equals(text, "NaN") {
            writer.double(.nan)
        } else {
            // Swift accepts more than XSD does: hexadecimal, "inf", "nan".
            let isNumeric = text.allSatisfy {
                isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 == 0x45 || $0 == 0x65
            }
            guard isNumeric, let value = Double(String(decoding: text, as: UTF8.self)) else { return false }
            writer.double(value)
        }
        return true
    }

    /// Decodes Base64 (RFC 4648, section 4) with white space anywhere (XSD part 2, section 3.2.16).
    private static func writeBase64(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 4 * 3 + 3)
        var bits: UInt32 = 0
        var symbols = 0
        var padding = 0
        for byte in text {
            if XMLSpace.contains(byte) { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            let value = Base64Decoder.values[Int(byte)]
            guard value != 0xFF, padding == 0 else { return false }
            bits = bits << 6 | UInt32(value)
            symbols += 1
            if symbols % 4 == 0 {
                out.append(UInt8(truncatingIfNeeded: bits >> 16))
                out.append(UInt8(truncatingIfNeeded: bits >> 8))
                out.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch symbols % 4 {
        case 0: guard padding == 0 else { return false }
        case 2 where padding == 2 || padding == 0: out.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3 where padding <= 1:
            out.append(UInt8(truncatingIfNeeded: bits >> 10))
            out.append(UInt8(truncatingIfNeeded: bits >> 2))
        default: return false
        }
        out.withUnsafeBytes { writer.bytes($0) }
        return true
    }

    /// Whether a text is hexadecimal, with an even number of digits.
    static func isHex(_ text: UnsafeRawBufferPointer) -> Bool {
        let digits = XMLSpace.trimmed(text)
        return digits.count % 2 == 0
            && digits.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
            }
    }

    private static func writeHex(_ text: UnsafeRawBufferPointer, to writer: RecordBatchWriter) -> Bool {
        guard text.count % 2 == 0 else { return false }
        func nibble(_ byte: UInt8) -> UInt8? {
            switch byte {
            case 0x30...0x39: byte - 0x30
            case 0x41...0x46: byte - 0x41 + 10
            case 0x61...0x66: byte - 0x61 + 10
            default: nil
            }
        }
        var out: [UInt8] = []
        out.reserveCapacity(text.count / 2)
        var index = 0
        while index < text.count {
            guard let high = nibble(text[index]), let low = nibble(text[index + 1]) else { return false }
            out.append(high << 4 | low)
            index += 2
        }
        out.withUnsafeBytes { writer.bytes($0) }
        return true
    }
}
