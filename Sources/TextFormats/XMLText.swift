/// Text in XML 1.0 and HTML.
package enum XMLText {
    /// Returns the reference for a character that content and attributes in double quotes cannot contain as it is.
    ///
    /// - Returns: The reference; nil for all other characters, including those that XML does not allow at all.
    package static func reference(for scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        // A reader of XML would replace a bare carriage return by a line feed (section 2.11).
        case "\r": "&#13;"
        default: nil
        }
    }

    /// Returns text escaped for content, or for an attribute in double quotes.
    ///
    /// - Parameter isAttribute: Whether line feeds and tabs become references, too: a reader would replace them by spaces
    ///   (section 3.3.3).
    package static func escaped(_ text: String, isAttribute: Bool = false) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if isAttribute, scalar == "\n" || scalar == "\t" {
                escaped += "&#\(scalar.value);"
            } else if let reference = reference(for: scalar) {
                escaped += reference
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
