extension String {
    /// The text as a field of CSV, quoted if it needs to be (RFC 4180, section 2).
    package var csvField: String {
        let needsQuotes = unicodeScalars.contains { ["\"", ",", "\r", "\n"].contains($0) }
        return needsQuotes ? "\"" + replacing("\"", with: "\"\"") + "\"" : self
    }
}
