internal import RecordBatch

/// Replaces the secrets of a connection by `***` in text that comes from a bridge.
///
/// Found are a secret as it is, with any of its bytes percent-encoded (RFC 3986, section 2.1; `+` for a space),
/// escaped for JSON or XML, and base64-encoded (RFC 4648, standard and URL alphabets), alone or inside a longer text as in
/// `Authorization: Basic`. A secret shorter than four bytes is replaced only where it is a whole word.
struct Redactor: Sendable {
    private struct Needle {
        let bytes: [UInt8]
        let isEncodable: Bool
        let isWord: Bool
    }

    private let needles: [Needle]

    init(secrets: [String]) {
        var needles: [Needle] = []
        for secret in Set(secrets) where !secret.isEmpty {
            let bytes = Array(secret.utf8)
            let isWord = bytes.count < 4
            needles.append(Needle(bytes: bytes, isEncodable: true, isWord: isWord))
            for escaped in [Self.jsonEscaped(secret), Self.xmlEscaped(secret)] where escaped != secret {
                needles.append(Needle(bytes: Array(escaped.utf8), isEncodable: false, isWord: isWord))
            }
            for encoded in Self.base64(bytes) {
                needles.append(Needle(bytes: encoded, isEncodable: false, isWord: isWord))
            }
        }
        // The longest first, so that no part of one is left over from a shorter one.
        self.needles = needles.sorted { $0.bytes.count > $1.bytes.count }
    }

    /// `text` without secrets.
    func redact(_ text: String) -> String {
        guard !needles.isEmpty, !text.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var index = 0
        var changed = false
        while index < bytes.count {
            if let end = endOfSecret(in: bytes, at: index) {
                out += Array("***".utf8)
                index = end
                changed = true
            } else {
                out.append(bytes[index])
                index += 1
            }
        }
        return changed ? String(decoding: out, as: UTF8.self) : text
    }

    private func endOfSecret(in text: [UInt8], at start: Int) -> Int? {
        for needle in needles {
            guard let end = Self.match(needle, in: text, at: start) else { continue }
            if needle.isWord {
                if start > 0, Self.isWordByte(text[start - 1]) { continue }
                if end < text.count, Self.isWordByte(text[end]) { continue }
            }
            return end
        }
        return nil
    }

    private static func match(_ needle: Needle, in text: [UInt8], at start: Int) -> Int? {
        var at = start
        for byte in needle.bytes {
            guard at < text.count else { return nil }
            if text[at] == byte {
                at += 1
            } else if needle.isEncodable, text[at] == UInt8(ascii: "%"), at + 2 < text.count,
                let high = hexDigit(text[at + 1]), let low = hexDigit(text[at + 2]), high << 4 | low == byte
            {
                at += 3
            } else if needle.isEncodable, text[at] == UInt8(ascii: "+"), byte == UInt8(ascii: " ") {
                at += 1
            } else {
                return nil
            }
        }
        return at
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private static func jsonEscaped(_ secret: String) -> String {
        var text = ""
        text.appendJSONString(secret)
        return String(text.dropFirst().dropLast())
    }

    private static func xmlEscaped(_ secret: String) -> String {
        secret.reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            default: text.append(character)
            }
        }
    }

    /// The secret's base64, and what stays the same of it at each of the three places it can take in a longer text.
    private static func base64(_ secret: [UInt8]) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        for shift in 0..<3 {
            let shifted = [UInt8](repeating: 0, count: shift) + secret
            let encoded = Array(shifted.withUnsafeBytes { Base64.encode($0) }.utf8)
            let lead = shift == 0 ? 0 : shift + 1
            // Characters that hold bits of the secret only.
            let inner = Array(encoded[..<(shifted.count * 8 / 6)].dropFirst(lead))
            if inner.count >= 4 { found.insert(inner) }
            if shift == 0 {
                found.insert(encoded)
                found.insert(encoded.filter { $0 != UInt8(ascii: "=") })
            }
        }
        for encoded in found {
            found.insert(
                encoded.map { byte in
                    switch byte {
                    case UInt8(ascii: "+"): UInt8(ascii: "-")
                    case UInt8(ascii: "/"): UInt8(ascii: "_")
                    default: byte
                    }
                })
        }
        return found
    }
}
