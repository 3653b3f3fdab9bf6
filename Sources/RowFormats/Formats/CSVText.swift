/// Formats CSV text.
package enum CSVText {
    /// Returns a field, quoted if necessary.
    package static func field(_ field: String, _ dialect: CSVDialect) -> String {
        // Characters would hide a delimiter before a combining mark.
        let quote = Unicode.Scalar(dialect.quote)
        let special: [Unicode.Scalar] = [quote, Unicode.Scalar(dialect.delimiter), "\n", "\r"]
        guard dialect.quote != 0, field.unicodeScalars.contains(where: special.contains) else { return field }
        var quoted = String.UnicodeScalarView([quote])
        for scalar in field.unicodeScalars {
            if scalar == quote { quoted.append(quote) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
