/// An incremental Base64 decoder (RFC 4648, section 4).
///
/// It skips white space and characters outside the alphabet, as RFC 2045 requires.
struct Base64Decoder {
    private var bits: UInt32 = 0
    private var symbols = 0

    static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xFF, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, byte) in alphabet.utf8.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    /// Decodes the next piece and returns the bytes it completes.
    mutating func feed(_ text: some Sequence<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        for byte in text {
            if byte == UInt8(ascii: "=") {
                // The first padding character ends a group of two or three symbols.
                if symbols == 2 { out.append(UInt8(truncatingIfNeeded: bits >> 4)) }
                if symbols == 3 {
                    out.append(UInt8(truncatingIfNeeded: bits >> 10))
                    out.append(UInt8(truncatingIfNeeded: bits >> 2))
                }
                symbols = 0
                continue
            }
            let value = Self.values[Int(byte)]
            guard value != 0xFF else { continue }
            bits = bits << 6 | UInt32(value)
            symbols += 1
            guard symbols == 4 else { continue }
            out.append(UInt8(truncatingIfNeeded: bits >> 16))
            out.append(UInt8(truncatingIfNeeded: bits >> 8))
            out.append(UInt8(truncatingIfNeeded: bits))
            symbols = 0
        }
        return out
    }
}
