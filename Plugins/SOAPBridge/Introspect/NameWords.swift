/// Splits names of a service into words.
enum NameWords {
    /// Returns the words of a name in lower case: for `ListCountryCodes`, list, country and codes.
    static func split(_ name: String) -> [String] {
        var words: [String] = []
        var word = ""
        var wasLower = false
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber else {
                if !word.isEmpty { words.append(word) }
                (word, wasLower) = ("", false)
                continue
            }
            let beginsWord = index + 1 < characters.count && characters[index + 1].isLowercase
            if character.isUppercase, wasLower || (beginsWord && !word.isEmpty) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            word.append(character)
            wasLower = character.isLowercase || character.isNumber
        }
        if !word.isEmpty { words.append(word) }
        return words.map { $0.lowercased() }
    }

    /// Returns the name in lower case without word separators.
    static func plain(_ name: String) -> String { split(name).joined() }

    static func singular(_ word: String) -> String {
        if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
        if word.hasSuffix("ss") || word.hasSuffix("us") || word.hasSuffix("is") { return word }
        return word.hasSuffix("s") && word.count > 2 ? String(word.dropLast()) : word
    }

    /// Returns a type's name without affixes that only mark it as a type.
    static func withoutEnding(_ name: String) -> String {
        var name = String(name.drop { $0 == "_" })
        for ending in ["Type", "DTO", "Dto", "Entity", "Record", "Info", "Struct", "Row"]
        where name.hasSuffix(ending) && name.count > ending.count + 2 {
            name = String(name.dropLast(ending.count))
            break
        }
        for beginning in ["tns", "ArrayOf"] where name.hasPrefix(beginning) && name.count > beginning.count + 2 {
            name = String(name.dropFirst(beginning.count))
        }
        return name
    }
}
