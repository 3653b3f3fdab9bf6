/// The header fields of a reply, as libcurl hands them over.
extension HTTPTransfer {
    /// Returns the text without surrounding spaces and tabs (RFC 9110, section 5.5).
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a header field has a challenge of this scheme.
    static func isChallenge(_ field: (name: String, value: String), _ scheme: String) -> Bool {
        guard field.name.isSameField(as: "www-authenticate") else { return false }
        // One field may hold several challenges, and commas separate their parameters, too (RFC 9110, section 11.6.1).
        let unquoted = field.value.lowercased().replacing(/"(?:[^"\\]|\\.)*"/, with: "")
        return unquoted.split(separator: ",").contains { part in
            let part = part.drop { $0 == " " || $0 == "\t" }
            // A bare `Negotiate` or `NTLM` is a refusal: libcurl has sent its first token before any challenge.
            let words = part.split { $0 == " " || $0 == "\t" }
            return words.count > 1 && words[0] == scheme
        }
    }
}
