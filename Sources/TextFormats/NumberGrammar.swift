/// The grammar of a JSON number: RFC 8259, section 6.
package enum NumberGrammar {
    /// Whether `text` is a number and nothing else.
    package static func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        func digits() -> Int {
            let start = index
            while index < text.count, (48...57).contains(text[index]) { index += 1 }
            return index - start
        }
        func skip(_ byte: UInt8) -> Bool {
            guard index < text.count, text[index] == byte else { return false }
            index += 1
            return true
        }
        _ = skip(UInt8(ascii: "-"))
        let startsWithZero = index < text.count && text[index] == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, whole == 1 || !startsWithZero else { return false }
        if skip(UInt8(ascii: ".")), digits() == 0 { return false }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            if digits() == 0 { return false }
        }
        return index == text.count
    }
}
