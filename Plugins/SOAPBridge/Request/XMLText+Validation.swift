internal import BridgeKit
internal import TextFormats

/// Validates what a request contains.
extension XMLText {
    /// Validates a configured name of undescribed content, which must not break out of its tag.
    static func checkName(_ name: String, _ path: String) throws(BridgeError) {
        let isName = name.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "_-.".unicodeScalars.contains($0)
        }
        guard isName, !name.isEmpty else {
            throw BridgeError(.configuration, "\(path) has the member \"\(name)\", which is not a valid XML name")
        }
    }

    /// Escapes text for content, or for an attribute in double quotes.
    static func escaped(
        _ text: String, isAttribute: Bool = false, at path: String
    ) throws(BridgeError) -> String {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r": continue
            case "\u{0}"..<"\u{20}", "\u{FFFE}", "\u{FFFF}":
                throw BridgeError(
                    .configuration,
                    "\(path) contains a character (U+\(String(scalar.value, radix: 16))) that XML 1.0 does not allow")
            default: continue
            }
        }
        return escaped(text, isAttribute: isAttribute)
    }
}
