/// Decodes the content of a part as its Content-Transfer-Encoding says (RFC 2045, section 6).
enum PartDecoder {
    case none
    case base64(Base64Decoder)
    case quotedPrintable(QuotedPrintableDecoder)

    /// Creates the decoder of a part with these header fields.
    ///
    /// - Returns: Nil for an encoding other than those of RFC 2045.
    init?(_ fields: [String: String]) {
        switch fields["content-transfer-encoding"]?.lowercased() ?? "binary" {
        case "binary", "8bit", "7bit", "": self = .none
        case "base64": self = .base64(Base64Decoder())
        case "quoted-printable": self = .quotedPrintable(QuotedPrintableDecoder())
        default: return nil
        }
    }

    /// Decodes the next piece and returns the bytes it completes.
    mutating func feed(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .none: return bytes
        case .base64(var decoder):
            defer { self = .base64(decoder) }
            return decoder.feed(bytes)
        case .quotedPrintable(var decoder):
            defer { self = .quotedPrintable(decoder) }
            return decoder.feed(bytes)
        }
    }

    /// Returns the bytes that remain at the end of the part.
    func finish() -> [UInt8] {
        guard case .quotedPrintable(var decoder) = self else { return [] }
        return decoder.finish()
    }
}
