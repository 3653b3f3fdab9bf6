internal import BridgeKit

/// Escapes text and validates names for XML 1.0.
enum XMLText {
    /// Validates a configured name of undescribed content, which must not break out of its tag.
    static func checkName(_ name: String, _ path: String) throws(BridgeError) {
        let isName = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "_-.".unicodeScalars.contains($0)
        }
        guard isName, !name.isEmpty else {
            throw BridgeError(.configuration, "\(path) has the member \"\(name)\", which is not a valid XML name")
        }
    }

    /// Escapes text for content and for attributes in double quotes.
    static func escaped(_ text: String, at path: String) throws(BridgeError) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "\"": out += "&quot;"
            case "\r": out += "&#13;"
            case "\t", "\n": out.unicodeScalars.append(scalar)
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}":
                throw BridgeError(
                    .configuration,
                    "\(path) holds a character (U+\(String(scalar.value, radix: 16))) that XML 1.0 does not allow")
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
