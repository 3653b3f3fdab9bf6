internal import TextFormats

/// Formats CSV text.
package enum CSVText {
    /// Returns a field, quoted if necessary.
    package static func field(_ field: String, _ dialect: CSVDialect) -> String {
        guard dialect.quote != 0 else { return field }
        return field.csvField(delimiter: Unicode.Scalar(dialect.delimiter), quote: Unicode.Scalar(dialect.quote))
    }

    /// Returns a row without its line break, whose first field is also quoted if the row would be a comment.
    static func row(_ fields: [String], _ dialect: CSVDialect) -> String {
        var texts = fields.map { field($0, dialect) }
        if let comment = dialect.comment, let first = texts.first, first.utf8.first == comment, dialect.quote != 0 {
            let quote = String(Unicode.Scalar(dialect.quote))
            texts[0] = quote + first + quote
        }
        return texts.joined(separator: String(Unicode.Scalar(dialect.delimiter)))
    }
}
