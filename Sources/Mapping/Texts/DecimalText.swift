/// A decimal number in text form.
///
/// Accepts the grammar of a JSON number (RFC 8259, section 6), and also a leading `+`, leading zeros, and no digits on
/// one side of the point, as in XML Schema's decimal and CSV files.
package struct DecimalText {
    /// The maximum number of digits without the exponent, and the maximum exponent: keeps `1e999999999` small.
    package static let maximumDigits = 1000

    /// The exact value without an exponent, a `+` or a negative zero; keeps the number of decimals.
    let plain: String

    package init?(_ text: String) {
        var bytes = Array(text.utf8)[...]
        var isNegative = false
        if let sign = bytes.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            bytes.removeFirst()
        }
        let whole = Self.takeDigits(&bytes)
        var fraction: [UInt8] = []
        if bytes.first == UInt8(ascii: ".") {
            bytes.removeFirst()
            fraction = Self.takeDigits(&bytes)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = 0
        if let mark = bytes.first, mark | 0x20 == UInt8(ascii: "e") {
            bytes.removeFirst()
            let limit = Self.maximumDigits
            guard let value = Int(String(decoding: bytes, as: UTF8.self)), (-limit...limit).contains(value) else {
                return nil
            }
            exponent = value
            bytes = []
        }
        guard bytes.isEmpty, whole.count + fraction.count <= Self.maximumDigits else { return nil }
        plain = Self.plain(isNegative: isNegative, whole: whole, fraction: fraction, exponent: exponent)
    }

    private static func takeDigits(_ bytes: inout ArraySlice<UInt8>) -> [UInt8] {
        let digits = bytes.prefix { (48...57).contains($0) }
        bytes = bytes.dropFirst(digits.count)
        return Array(digits)
    }

    private static func plain(isNegative: Bool, whole: [UInt8], fraction: [UInt8], exponent: Int) -> String {
        let zero = UInt8(ascii: "0")
        var whole = whole
        var fraction = fraction
        if exponent > 0 {
            let moved = fraction.prefix(exponent)
            whole += moved + Array(repeating: zero, count: exponent - moved.count)
            fraction.removeFirst(moved.count)
        } else if exponent < 0 {
            let moved = whole.suffix(-exponent)
            fraction = Array(repeating: zero, count: -exponent - moved.count) + moved + fraction
            whole.removeLast(moved.count)
        }
        let digits = whole.drop { $0 == zero }
        var text = String(decoding: digits.isEmpty ? [zero] : Array(digits), as: UTF8.self)
        // Zeros after an exponent shift are not significant: 1.0e1 is 10, and 12.0 as an integer is 12.
        if exponent != 0 { while fraction.last == zero { fraction.removeLast() } }
        if !fraction.isEmpty { text += "." + String(decoding: fraction, as: UTF8.self) }
        let isZero = text.utf8.allSatisfy { $0 == zero || $0 == UInt8(ascii: ".") }
        return isNegative && !isZero ? "-" + text : text
    }

    /// The text that all equal numbers share: without zeros at the end of the decimals.
    var canonical: String {
        guard plain.utf8.contains(UInt8(ascii: ".")) else { return plain }
        var text = plain[...]
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return String(text)
    }

    /// The value as an integer; nil when it has nonzero decimals, or is out of range.
    package var integer: Int64? {
        let parts = plain.split(separator: ".")
        guard parts.count == 1 || parts[1].allSatisfy({ $0 == "0" }) else { return nil }
        return Int64(parts[0])
    }
}
