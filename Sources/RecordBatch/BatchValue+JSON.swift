extension BatchValue {
    /// This value as JSON text (RFC 8259), for people and for columns of type json: bytes as base64, timestamps as
    /// ISO 8601, a double that JSON has no number for as null.
    public var json: String {
        var out = ""
        appendJSON(to: &out)
        return out
    }

    private func appendJSON(to out: inout String) {
        switch tag {
        case .null: out += "null"
        case .bool: out += bool ? "true" : "false"
        case .int64: out += String(int64)
        case .double: out += double.isFinite ? "\(double)" : "null"
        case .decimal: out += string
        case .text: out.appendJSONString(string)
        case .bytes: out.appendJSONString(Base64.encode(rawBytes))
        case .timestamp: out.appendJSONString(Timestamp.text(microseconds: int64))
        case .array:
            out += "["
            for index in 0..<count {
                if index > 0 { out += "," }
                self[index].appendJSON(to: &out)
            }
            out += "]"
        case .object:
            out += "{"
            for index in 0..<count {
                if index > 0 { out += "," }
                out.appendJSONString(self[index].key)
                out += ":"
                self[index].appendJSON(to: &out)
            }
            out += "}"
        }
    }
}

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
