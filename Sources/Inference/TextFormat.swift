/// The format of a text, guessed from its characters.
package enum TextFormat: Sendable {
    case timestamp, date, uuid, url, integer, decimal

    /// Returns the format that all texts share, or nil if there is none.
    package static func common(_ texts: [String]) -> TextFormat? {
        guard let first = texts.first, let format = of(first) else { return nil }
        var widest = format
        for text in texts.dropFirst() {
            guard let next = of(text) else { return nil }
            switch (widest, next) {
            case (.integer, .decimal), (.decimal, .integer): widest = .decimal
            case (let left, let right) where left == right: continue
            default: return nil
            }
        }
        return widest
    }

    /// Whether each of the timestamps has a zone.
    package static func haveZones(_ texts: [String]) -> Bool {
        texts.allSatisfy { text in
            let clock = text.utf8.dropFirst(11)
            return clock.contains { "Zz+-".utf8.contains($0) }
        }
    }

    /// Returns the format of one text; nil for a text that has none of them.
    package static func of(_ text: String) -> TextFormat? {
        let bytes = Array(text.utf8)
        if bytes.count == 36, isUUID(bytes) { return .uuid }
        if let format = temporal(bytes) { return format }
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            return text.utf8.count > 8 && !text.contains(" ") && !text.contains("{") ? .url : nil
        }
        return number(bytes)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.enumerated().allSatisfy { index, byte in
            [8, 13, 18, 23].contains(index)
                ? byte == UInt8(ascii: "-")
                : isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
    }

    /// Recognizes dates such as `2026-11-21`, and ISO 8601 date-times with `T` or a space.
    private static func temporal(_ bytes: [UInt8]) -> TextFormat? {
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy({ isDigit(bytes[$0]) })
        else { return nil }
        let month = (bytes[5] - 48) * 10 + bytes[6] - 48
        let day = (bytes[8] - 48) * 10 + bytes[9] - 48
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        if bytes.count == 10 { return .date }
        guard bytes.count >= 16, bytes[10] | 0x20 == UInt8(ascii: "t") || bytes[10] == UInt8(ascii: " "),
            isDigit(bytes[11]), isDigit(bytes[12]), bytes[13] == UInt8(ascii: ":"),
            isDigit(bytes[14]), isDigit(bytes[15])
        else { return nil }
        let rest = bytes[16...].allSatisfy { isDigit($0) || ":.,+-Zz ".utf8.contains($0) }
        return rest ? .timestamp : nil
    }

    private static func number(_ bytes: [UInt8]) -> TextFormat? {
        var rest = bytes[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = rest.prefix(while: isDigit)
        guard !whole.isEmpty, whole.count < 30, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return nil }
        rest = rest.dropFirst(whole.count)
        if rest.isEmpty { return whole.count < 19 ? .integer : nil }
        guard rest.first == UInt8(ascii: ".") else { return nil }
        rest.removeFirst()
        return !rest.isEmpty && rest.allSatisfy(isDigit) ? .decimal : nil
    }
}
