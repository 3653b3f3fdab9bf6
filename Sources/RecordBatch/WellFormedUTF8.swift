/// The rules of well-formed UTF-8: Unicode 15, table 3-7.
///
/// The standard library's check costs five times as much for text that is mostly ASCII, as that of batches is.
enum WellFormedUTF8 {
    /// Whether `text` is well-formed as a whole.
    static func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while true {
            index = endOfASCII(text, from: index)
            guard index < text.count else { return true }
            while index < text.count, text[index] >= 0x80 {
                guard let length = scalarLength(text, at: index) else { return false }
                index += length
            }
        }
    }

    /// Returns the place of the first byte from `start` that is not ASCII, or the text's end.
    @inline(__always)
    private static func endOfASCII(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        while index + 32 <= text.count,
            highBits(text, index) | highBits(text, index + 8) | highBits(text, index + 16) | highBits(text, index + 24)
                == 0
        {
            index += 32
        }
        while index + 8 <= text.count {
            let bits = UInt64(littleEndian: highBits(text, index))
            guard bits == 0 else { return index + bits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < text.count, text[index] < 0x80 { index += 1 }
        return index
    }

    /// Returns the highest bit of each of eight bytes.
    @inline(__always)
    private static func highBits(_ text: UnsafeRawBufferPointer, _ index: Int) -> UInt64 {
        text.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080
    }

    /// Returns the number of bytes of the scalar that begins with the byte at `index`, which is not ASCII; nil if none
    /// does.
    @inline(__always)
    private static func scalarLength(_ text: UnsafeRawBufferPointer, at index: Int) -> Int? {
        let rest = text.count - index
        switch text[index] {
        case 0xC2...0xDF:
            guard rest >= 2, continues(text[index + 1]) else { return nil }
            return 2
        case 0xE0...0xEF:
            guard rest >= 3, continues(text[index + 1]), continues(text[index + 2]) else { return nil }
            // Neither a longer form than needed nor a surrogate.
            if text[index] == 0xE0, text[index + 1] < 0xA0 { return nil }
            if text[index] == 0xED, text[index + 1] >= 0xA0 { return nil }
            return 3
        case 0xF0...0xF4:
            guard rest >= 4, continues(text[index + 1]), continues(text[index + 2]), continues(text[index + 3])
            else { return nil }
            // Neither a longer form than needed nor beyond the last scalar.
            if text[index] == 0xF0, text[index + 1] < 0x90 { return nil }
            if text[index] == 0xF4, text[index + 1] >= 0x90 { return nil }
            return 4
        default: return nil
        }
    }

    @inline(__always)
    private static func continues(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
