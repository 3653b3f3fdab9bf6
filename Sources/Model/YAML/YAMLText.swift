/// Writes values as YAML 1.2 that YAML 1.1 parsers read identically.
package enum YAMLText {
    private static let widest = 100

    /// Returns the lines of `name: value`: a single line where that is short, else the members below the name.
    package static func lines(_ name: String, _ value: ConfigValue, comment: String? = nil) -> [String] {
        let end = comment.map { "  # " + line($0) } ?? ""
        let flow = flow(value)
        if flow.count + name.count <= widest || value.members == nil && value.array == nil {
            return ["\(scalar(name)): \(flow)\(end)"]
        }
        let inner: [String]
        if let members = value.members {
            inner = members.flatMap { lines($0.key, $0.value) }
        } else {
            inner = (value.array ?? []).map { "- " + self.flow($0) }
        }
        return ["\(scalar(name)):\(end)"] + inner.map { "  " + $0 }
    }

    /// Returns the value on one line.
    package static func flow(_ value: ConfigValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .int(let number): String(number)
        case .double(let number): "\(number)"
        case .decimal(let number): number
        case .string(let text): scalar(text)
        case .array(let elements): "[" + elements.map { flow($0) }.joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(scalar($0.key)): \(flow($0.value))" }.joined(separator: ", ") + "}"
        case .secret(let reference): reference.description
        }
    }

    /// Returns a text, quoted unless every parser reads it as a text without quotes.
    package static func scalar(_ text: String) -> String {
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:$@+=~".unicodeScalars)
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        let first = text.unicodeScalars.first
        let isPlain =
            text.unicodeScalars.allSatisfy(safe.contains)
            && (first?.properties.isAlphabetic == true || first == "/" || first == "$" || first == "_")
            && !text.hasSuffix(":") && !words.contains(text.lowercased())
        if isPlain { return text }
        let hasControls = text.unicodeScalars.contains {
            $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || [0x2028, 0x2029, 0xFEFF].contains($0.value)
        }
        if !hasControls { return "'" + text.replacing("'", with: "''") + "'" }
        var out = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value >= 0x7F && scalar.value <= 0xFFFF:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "\""
    }

    /// Returns text for a comment: one line, without control characters, of limited length.
    package static func line(_ text: String) -> String {
        let clean = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let category = scalar.properties.generalCategory
                    let isOdd = category == .control || category == .format || [0x2028, 0x2029].contains(scalar.value)
                    return isOdd ? " " : scalar
                }))
        let words = clean.split(separator: " ").joined(separator: " ")
        return words.count > 200 ? words.prefix(199) + "…" : words
    }
}
