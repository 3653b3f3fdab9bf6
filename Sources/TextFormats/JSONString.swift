extension String {
    /// The text as a JSON string.
    package var jsonQuoted: String {
        var json = ""
        json.appendJSONString(self)
        return json
    }

    /// Appends `text` as a JSON string (RFC 8259, section 7), quoted and escaped.
    package mutating func appendJSONString(_ text: String) {
        append("\"")
        defer { append("\"") }
        guard text.utf8.contains(where: Self.mayBeEscaped) else { return append(text) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            // Also escape the C1 controls, which a terminal would execute.
            case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}":
                let hex = String(scalar.value, radix: 16)
                append("\\u" + String(repeating: "0", count: 4 - hex.count) + hex)
            default: unicodeScalars.append(scalar)
            }
        }
    }

    /// Whether a byte of UTF-8 is, or begins, a character that a JSON string has escaped; C2 begins the C1 controls.
    private static func mayBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F || byte == 0xC2
    }
}

extension Double {
    /// The number as text; what is beyond all numbers is `INF`, `-INF` or `NaN`, as in XML Schema (part 2, section
    /// 3.2.5).
    package var lexicalText: String {
        if isNaN { return "NaN" }
        guard isInfinite else { return "\(self)" }
        return self < 0 ? "-INF" : "INF"
    }

    /// The number as JSON, which has texts for `INF`, `-INF` and `NaN`: as null they would be lost.
    package var jsonText: String { isFinite ? lexicalText : "\"\(lexicalText)\"" }
}
