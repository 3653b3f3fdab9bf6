/// The words of a command line, as a shell splits them: quotes hold words together, a backslash takes the next character as it is.
package enum CommandWords {
    /// Splits a line; nothing is expanded.
    ///
    /// - Throws: ``FixtureCase/Fault`` for a quote that nothing closes, or a backslash at the end.
    package static func split(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            switch (character, quote) {
            case (_, .some(let open)) where character == open: quote = nil
            case ("\\", .none), ("\\", .some("\"")):
                guard let next = rest.popFirst() else {
                    throw FixtureCase.Fault("the command `\(line)` ends with a backslash: write \\\\ for one")
                }
                // Between double quotes it is one before what would end them, or for itself.
                word = (word ?? "") + (quote == nil || #""\$`"#.contains(next) ? "" : "\\") + String(next)
            case ("\"", .none), ("'", .none):
                quote = character
                word = word ?? ""
            case (_, .none) where character.isWhitespace:
                if let word { words.append(word) }
                word = nil
            default: word = (word ?? "") + String(character)
            }
        }
        if let quote { throw FixtureCase.Fault("the command `\(line)` has an open \(quote): close it") }
        if let word { words.append(word) }
        return words
    }
}
