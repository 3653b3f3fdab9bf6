internal import TextFormats

extension BatchValue {
    /// The value as JSON text (RFC 8259), for people and for columns of type json.
    ///
    /// Bytes are base64, timestamps are ISO 8601, and a double without a JSON number is the text `INF`, `-INF` or `NaN`.
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
        case .double: out += double.jsonText
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
