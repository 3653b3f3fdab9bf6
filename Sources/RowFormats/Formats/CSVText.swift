internal import TextFormats

/// Formats CSV text.
package enum CSVText {
    /// Returns a field, quoted if necessary.
    package static func field(_ field: String, _ dialect: CSVDialect) -> String {
        guard dialect.quote != 0 else { return field }
        return field.csvField(delimiter: Unicode.Scalar(dialect.delimiter), quote: Unicode.Scalar(dialect.quote))
    }
}
