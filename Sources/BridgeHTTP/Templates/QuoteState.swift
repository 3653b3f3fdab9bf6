/// The state of quotes at a place in a template.
///
/// Inside quotes, a value is escaped as a literal of the API's expression language.
///
/// Inside single quotes, a single quote is doubled, as in OData, SQL and CQL, or prefixed with `!` in Rison. Inside
/// double quotes, a double quote and a backslash are prefixed with a backslash, as in JSON and GraphQL.
package struct QuoteState {
    private var quote: Character?
    private let isRison: Bool
    /// Whether the template is XML, whose quotes follow other rules.
    private let isMarkup: Bool

    package init(_ template: String) {
        isRison = template.hasPrefix("(") && template.contains("!(")
        isMarkup = template.hasPrefix("<")
    }

    /// Advances past literal text of the template.
    package mutating func pass(_ text: some StringProtocol) {
        for character in text {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            }
        }
    }

    /// Returns the value escaped for the current place.
    ///
    /// - Parameter rest: The text after the value. A quote that it does not close is an apostrophe.
    package func escaped(_ value: String, before rest: some StringProtocol) -> String {
        guard let quote, !isMarkup, rest.contains(quote) else { return value }
        switch quote {
        case "'" where isRison: return value.replacing("!", with: "!!").replacing("'", with: "!'")
        case "'": return value.replacing("'", with: "''")
        default: return value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        }
    }
}
