/// Base64 encoding (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns the padded text of `bytes`.
    package static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let group =
                UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[index + 2]) : 0)
            out.append(alphabet[Int(group >> 18)])
            out.append(alphabet[Int(group >> 12 & 63)])
            out.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            out.append(left > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
            index += 3
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The number of bytes up to which a message shows them.
    package static let mostShown = 150

    /// Returns the text of `bytes` for a message; for many, only their number.
    package static func summary(of bytes: [UInt8]) -> String {
        bytes.count > mostShown ? "\(bytes.count) bytes" : bytes.withUnsafeBytes(encode)
    }

    /// Decodes padded or unpadded text in the standard or the URL-safe alphabet, ignoring white space; nil for anything
    /// else.
    package static func decode(_ text: String) -> [UInt8]? {
        var out: [UInt8] = []
        var group: UInt32 = 0
        var digits = 0
        var isPadded = false
        for byte in text.utf8 {
            switch byte {
            case 9, 10, 13, 32: continue
            case UInt8(ascii: "="):
                isPadded = true
                continue
            default: break
            }
            guard !isPadded, let digit = digit(byte) else { return nil }
            group = group << 6 | digit
            digits += 1
            if digits == 4 {
                out.append(UInt8(truncatingIfNeeded: group >> 16))
                out.append(UInt8(truncatingIfNeeded: group >> 8))
                out.append(UInt8(truncatingIfNeeded: group))
                group = 0
                digits = 0
            }
        }
        switch digits {
        case 0: break
        case 2: out.append(UInt8(truncatingIfNeeded: group >> 4))
        case 3:
            out.append(UInt8(truncatingIfNeeded: group >> 10))
            out.append(UInt8(truncatingIfNeeded: group >> 2))
        default: return nil
        }
        return out
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 65...90: UInt32(byte - 65)
        case 97...122: UInt32(byte - 71)
        case 48...57: UInt32(byte + 4)
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
