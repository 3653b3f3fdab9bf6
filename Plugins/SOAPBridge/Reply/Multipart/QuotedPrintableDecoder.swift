/// An incremental decoder of quoted-printable (RFC 2045, section 6.7).
///
/// White space at the end of a line is removed; what is not an escape stays as it is.
struct QuotedPrintableDecoder {
    /// An escape that is not complete, or white space that may end a line.
    private var pending: [UInt8] = []

    /// Decodes the next piece and returns the bytes it completes.
    mutating func feed(_ text: some Sequence<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        for byte in text { take(byte, &out) }
        return out
    }

    /// Returns what remains at the end, which also ends a line.
    mutating func finish() -> [UInt8] {
        defer { pending = [] }
        return pending.count > 1 && Self.digit(pending[1]) != nil ? pending : []
    }

    private mutating func take(_ byte: UInt8, _ out: inout [UInt8]) {
        guard let first = pending.first else {
            if byte == UInt8(ascii: "=") || Self.isBlank(byte) { pending = [byte] } else { out.append(byte) }
            return
        }
        guard first == UInt8(ascii: "=") else {
            if Self.isBlank(byte) { return pending.append(byte) }
            // White space that ends a line was added on the way.
            if byte != 13, byte != 10 { out += pending }
            pending = []
            return take(byte, &out)
        }
        if pending.count > 1, let high = Self.digit(pending[1]) {
            if let low = Self.digit(byte) {
                out.append(high << 4 | low)
                pending = []
                return
            }
        } else if byte == 10 {
            // A line break that the encoding added.
            pending = []
            return
        } else if byte == 13 || Self.isBlank(byte) || pending.count == 1 && Self.digit(byte) != nil {
            return pending.append(byte)
        }
        out += pending
        pending = []
        take(byte, &out)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
