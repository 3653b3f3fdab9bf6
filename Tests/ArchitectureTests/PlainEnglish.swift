/// Phrases that comments and docs do not use: each made a reader search for the subject of a sentence.
enum PlainEnglish {
    /// Each phrase with what to write instead; a phrase is found as whole words.
    private static let phrases: [(words: String, instead: String)] = [
        ("nobody", "name who it is"), ("somebody", "name who it is"), ("whoever", "name who it is"),
        ("what is there", "name the thing"), ("of which", "say \"whose\", or begin a new sentence"),
        ("is no", "say \"is not a\""), ("are no", "say \"are not\""),
        ("tells of", "say \"reports\""), ("told of", "say \"reported\""),
        ("good for nothing", "say \"useless\""), ("to and fro", "say it without the idiom"),
        ("for all that", "say it without the idiom"), ("as good as", "say it without the idiom"),
        ("held against", "say \"validated against\""), ("holds against", "say \"validates against\""),
    ]
    /// Where the words are good English.
    private static let allowed = [
        "there is no", "there are no", "is no longer", "are no longer", "is no more", "are no more", "is no less",
        "is no later", "is no earlier", "is no such", "instead of which",
    ]

    /// Returns the phrases in the comments of a source file.
    static func violations(inCommentsOf text: String, path: String) -> [String] {
        var isString = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
            number, line -> [String] in
            let wasString = isString
            if line.contains("\"\"\""), line.ranges(of: "\"\"\"").count % 2 == 1 { isString.toggle() }
            guard !wasString, let comment = comment(of: line) else { return [] }
            return found(in: comment, at: "\(path):\(number + 1)")
        }
    }

    private static func comment(of line: Substring) -> Substring? {
        let text = line.drop { $0 == " " }
        if text.hasPrefix("//") || text.hasPrefix("* ") || text.hasPrefix("/*") { return text }
        return line.firstRange(of: " // ").map { line[$0.upperBound...] }
    }

    /// Returns the phrases in a page of Markdown, outside code and quotations.
    static func violations(inPage text: String, path: String) -> [String] {
        var isCode = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap {
            number, line -> [String] in
            if line.drop(while: { $0 == " " }).hasPrefix("```") {
                isCode.toggle()
                return []
            }
            guard !isCode, !line.hasPrefix("    ") else { return [] }
            let prose = line.replacing(/`[^`]*`/, with: "``").replacing(/"[^"]*"/, with: "\"\"")
            return found(in: prose, at: "\(path):\(number + 1)")
        }
    }

    /// Returns the phrases in a text.
    static func found(in text: Substring, at place: String) -> [String] {
        var text = text.lowercased()
        let near = phrases.filter { text.contains($0.words) }
        guard !near.isEmpty else { return [] }
        for words in allowed { text = text.replacing(words, with: "") }
        return near.compactMap { phrase in
            let isWhole = text.ranges(of: phrase.words).contains { range in
                let before = text[..<range.lowerBound].last
                let after = text[range.upperBound...].first
                return !(before?.isLetter ?? false) && !(after?.isLetter ?? false)
            }
            return isWhole ? "\(place): \"\(phrase.words)\": \(phrase.instead)" : nil
        }
    }
}
