/// Percent-encoding (RFC 3986, section 2.1) undone.
package enum PercentEncoding {
    /// The text with each `%` and two hexadecimal digits as the byte that they stand for; any other `%` stands for itself.
    ///
    /// - Parameters:
    ///   - plusIsSpace: As in a query (application/x-www-form-urlencoded).
    ///   - keepsZero: Leaves `%00` as it is: no path of a file holds that byte.
    package static func decoded(
        _ text: some StringProtocol, plusIsSpace: Bool = false, keepsZero: Bool = false
    ) -> String {
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
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same of a text that holds no `%` otherwise; nil where one does, and for what is not UTF-8 then.
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
        return String(validating: bytes, as: UTF8.self)
    }

    /// The byte that the beginning stands for; nil where it is no `%` and two digits.
    private static func value(at bytes: ArraySlice<UInt8>) -> UInt8? {
        let start = bytes.startIndex
        guard bytes.count >= 3, bytes[start] == UInt8(ascii: "%"), let high = digit(bytes[start + 1]),
            let low = digit(bytes[start + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Looked at one by one: `UInt8(_:radix:)` takes `+f` as well.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
