/// Formats CSV text.
package enum CSVText {
    /// Returns a field, quoted if necessary.
    package static func field(_ field: String, _ dialect: CSVDialect) -> String {
        let quote = Character(Unicode.Scalar(dialect.quote))
        let special: [Character] = [
            quote, Character(Unicode.Scalar(dialect.delimiter)), "\n", "\r", "\r\n",
        ]
        guard dialect.quote != 0, field.contains(where: special.contains) else { return field }
        return "\(quote)" + field.map { $0 == quote ? "\(quote)\(quote)" : String($0) }.joined()
            + "\(quote)"
    }
}
