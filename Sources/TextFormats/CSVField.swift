extension Sequence<String> {
    /// The texts as a line of CSV, without its line break (RFC 4180, section 2).
    ///
    /// The only field of a line is quoted if it is empty: readers skip an empty line.
    package var csvLine: String {
        let line = map(\.csvField).joined(separator: ",")
        return line.isEmpty ? "\"\"" : line
    }
}

extension String {
    /// The text as a field of CSV, quoted if it needs to be (RFC 4180, section 2).
    package var csvField: String { csvField(delimiter: ",", quote: "\"") }

    /// Returns the text as a field of CSV with another delimiter or quote, quoted if it needs to be.
    package func csvField(delimiter: Unicode.Scalar, quote: Unicode.Scalar) -> String {
        // As characters, a delimiter or a quote before a combining mark would be another one.
        guard unicodeScalars.contains(where: { [quote, delimiter, "\r", "\n"].contains($0) }) else { return self }
        var quoted = UnicodeScalarView([quote])
        for scalar in unicodeScalars {
            if scalar == quote { quoted.append(quote) }
            quoted.append(scalar)
        }
        quoted.append(quote)
        return String(quoted)
    }
}
