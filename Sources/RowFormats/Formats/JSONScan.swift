/// Tracks the nesting of JSON text without parsing it: enough to find the end of a value.
struct JSONScan {
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Whether the next byte is outside every container and string.
    var isOutside: Bool { depth == 0 && !isInText }

    /// Processes a byte; returns true if it closes the outermost container.
    mutating func take(_ byte: UInt8) -> Bool {
        if isInText {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInText = false
            }
            return false
        }
        switch byte {
        case UInt8(ascii: "\""): isInText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            return depth <= 0
        default: break
        }
        return false
    }

    /// Whether a text is exactly one object, from its first byte to its last.
    static func isObject(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "{") else { return false }
        var scan = JSONScan()
        var index = text.startIndex
        return text.withUnsafeBufferPointer { bytes in
            for (offset, byte) in bytes.enumerated() where scan.take(byte) {
                index = offset
                return index == bytes.count - 1
            }
            return false
        }
    }
}
