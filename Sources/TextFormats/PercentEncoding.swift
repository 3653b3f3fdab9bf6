/// Percent-encoded text (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// Decodes each `%` followed by two hexadecimal digits into a byte; any other `%` stays as it is.
    ///
    /// - Parameters:
    ///   - plusIsSpace: Decodes `+` as a space, as in a query (application/x-www-form-urlencoded).
    ///   - keepsZero: Leaves `%00` encoded: a file's path cannot hold that byte.
    package static func decoded(
        _ text: some StringProtocol, plusIsSpace: Bool = false, keepsZero: Bool = false
    ) -> String {
        // The bytes of a String itself: those of any StringProtocol cost several calls each.
        let text = String(text)
        let isPlain = text.utf8.allSatisfy { $0 != UInt8(ascii: "%") && ($0 != UInt8(ascii: "+") || !plusIsSpace) }
        guard !isPlain else { return text }
        return String(decoding: bytes(text, plusIsSpace: plusIsSpace, keepsZero: keepsZero), as: UTF8.self)
    }

    /// Returns the parameters of a query or a form (application/x-www-form-urlencoded), decoded, in order; a parameter
    /// without `=` has an empty value.
    package static func pairs(_ query: some StringProtocol) -> [(name: String, value: String)] {
        // As characters, `=` before a combining mark would be another one.
        String(query).utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { decoded(Substring($0), plusIsSpace: true) }
            return (name: halves[0], value: halves.count == 2 ? halves[1] : "")
        }
    }

    /// Returns the bytes that ``decoded(_:plusIsSpace:keepsZero:)`` makes a text of; they need not be UTF-8.
    package static func bytes(
        _ text: some StringProtocol, plusIsSpace: Bool = false, keepsZero: Bool = false
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            if let value = value(at: rest), value != 0 || !keepsZero {
                bytes.append(value)
                rest.removeFirst(3)
            } else {
                bytes.append(byte == UInt8(ascii: "+") && plusIsSpace ? UInt8(ascii: " ") : byte)
                rest.removeFirst()
            }
        }
        return bytes
    }

    /// Decodes a text in which every `%` begins an escape; nil if one does not, or if the result is not UTF-8.
    package static func strictlyDecoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                rest.removeFirst()
                continue
            }
            guard let value = value(at: rest) else { return nil }
            bytes.append(value)
            rest.removeFirst(3)
        }
        return String(validUTF8: bytes)
    }

    /// Returns the text with `%` and two digits for each byte that `isKept` refuses.
    package static func encoded(
        _ text: some StringProtocol, keeping isKept: (UInt8) -> Bool = PercentEncoding.isUnreserved
    ) -> String {
        // Most texts need no encoding.
        let text = String(text)
        guard !text.utf8.allSatisfy(isKept) else { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var out: [UInt8] = []
        for byte in text.utf8 {
            if isKept(byte) {
                out.append(byte)
            } else {
                out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// Whether a byte is one of the unreserved characters: RFC 3986, section 2.3.
    package static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns the byte encoded at the beginning; nil unless it is `%` and two digits.
    private static func value(at bytes: ArraySlice<UInt8>) -> UInt8? {
        let start = bytes.startIndex
        guard bytes.count >= 3, bytes[start] == UInt8(ascii: "%"), let high = digit(bytes[start + 1]),
            let low = digit(bytes[start + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Parses one digit; `UInt8(_:radix:)` would also accept `+f`.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
