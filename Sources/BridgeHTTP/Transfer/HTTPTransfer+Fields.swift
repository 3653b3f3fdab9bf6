/// The header fields of a reply, as libcurl hands them over.
extension HTTPTransfer {
    /// Returns the text without surrounding spaces and tabs (RFC 9110, section 5.5).
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Appends a line that begins with a blank: it continues the field before it (obs-fold; RFC 9112, section 5.2).
    static func append(_ line: Slice<UnsafeRawBufferPointer>, to fields: inout [(name: String, value: String)]) {
        let text = trimmed(line)
        // The status line is not continued (section 2.2).
        guard let last = fields.indices.last, !fields[last].name.isEmpty, !text.isEmpty else { return }
        fields[last].value += fields[last].value.isEmpty ? text : " " + text
    }

    /// Forgets a head that is not the final reply's.
    func dropHead() {
        received = []
        interimHeads += 1
    }

    /// The content codings that the reply names, for messages; nil for none.
    var namedCodings: String? {
        let values = received.filter { $0.name.isSameField(as: "content-encoding") }.map(\.value)
        return values.isEmpty ? nil : String(redactor.clean(values.joined(separator: ", ")).prefix(100))
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
