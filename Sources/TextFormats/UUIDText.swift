/// The text of a UUID (RFC 9562, section 4).
package enum UUIDText {
    /// Returns a UUID in its usual form, lower case with hyphens; nil for another text.
    ///
    /// Capital letters, braces, the URN form and missing hyphens are common, and unambiguous.
    package static func canonical(_ text: String) -> String? {
        var text = text.lowercased()
        if text.hasPrefix("urn:uuid:") { text.removeFirst(9) }
        if text.hasPrefix("{"), text.hasSuffix("}") { text = String(text.dropFirst().dropLast()) }
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: "-") })
        let hyphens = text.utf8.enumerated().filter { $0.element == UInt8(ascii: "-") }.map(\.offset)
        guard digits.count == 32, digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            hyphens.isEmpty || hyphens == [8, 13, 18, 23]
        else { return nil }
        func group(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
        return [group(0..<8), group(8..<12), group(12..<16), group(16..<20), group(20..<32)].joined(separator: "-")
    }
}
