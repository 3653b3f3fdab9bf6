/// A parser that splits a command line into words like a shell.
///
/// Quotes keep words together; a backslash quotes the next character.
package enum CommandWords {
    /// Splits a line without expansions.
    ///
    /// - Throws: ``FixtureCase/Fault`` for an unclosed quote or a backslash at the end.
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
                // Between double quotes a backslash only escapes `"`, `\`, `$` and a backtick; otherwise it stands for
                // itself.
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
