extension String {
    /// Appends `text` as a JSON string (RFC 8259, section 7), quoted and escaped.
    ///
    /// The model sees nothing of the module that writes batches as JSON, which does the same.
    mutating func appendJSONString(_ text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            // Also the C1 controls, which a terminal would obey.
            case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}":
                let hex = String(scalar.value, radix: 16)
                append("\\u" + String(repeating: "0", count: 4 - hex.count) + hex)
            default: unicodeScalars.append(scalar)
            }
        }
        append("\"")
    }
}
