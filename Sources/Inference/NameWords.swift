/// The English words in the names of members, elements, columns and operations.
package enum NameWords {
    /// Returns the words of a name: `petOwners`, `pet_owners` and `pet-owners` all split into pet and owners.
    ///
    /// - Parameter isASCII: Whether letters outside ASCII separate words, as for a name that must be an identifier.
    package static func split(_ name: String, isASCII: Bool = false) -> [String] {
        var words: [String] = []
        var word = ""
        var wasLower = false
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber, character.isASCII || !isASCII else {
                if !word.isEmpty { words.append(word) }
                (word, wasLower) = ("", false)
                continue
            }
            // HTTPServer splits into HTTP and Server.
            let beginsWord = index + 1 < characters.count && characters[index + 1].isLowercase
            if character.isUppercase, wasLower || (beginsWord && !word.isEmpty) {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            word.append(character)
            wasLower = character.isLowercase || character.isNumber
        }
        if !word.isEmpty { words.append(word) }
        return words
    }

    /// Returns the words of a name in lower case.
    package static func lower(_ name: String) -> [String] { split(name).map { $0.lowercased() } }

    /// Returns the name as an identifier in Pascal case, such as `PetOwner`.
    package static func pascal(_ name: String) -> String {
        split(name, isASCII: true).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Returns the name in lowercase without separators, such as `petowner`, for comparison.
    package static func plain(_ name: String) -> String { split(name).joined().lowercased() }

    /// Words whose singular looks like a plural.
    private static let unchanged: Set = [
        "news", "series", "species", "status", "address", "data", "access", "analysis", "bus", "gas", "class",
    ]

    /// Plurals that follow no rule, with their singulars.
    private static let irregular = [
        "people": "person", "children": "child", "men": "man", "women": "woman", "indices": "index",
    ]

    /// Returns an English word in the singular, as far as its ending tells.
    package static func singular(_ word: String) -> String {
        let lower = word.lowercased()
        if unchanged.contains(lower) || lower.hasSuffix("ss") || lower.hasSuffix("us") || lower.hasSuffix("is") {
            return word
        }
        if let one = irregular[lower] {
            return word.first?.isUppercase == true ? one.prefix(1).uppercased() + one.dropFirst() : one
        }
        if lower.hasSuffix("ies"), lower.count > 4 { return word.dropLast(3) + "y" }
        for ending in ["ches", "shes", "xes", "sses", "zes"] where lower.hasSuffix(ending) {
            return String(word.dropLast(2))
        }
        if lower.hasSuffix("s"), lower.count > 2 { return String(word.dropLast()) }
        return word
    }

    /// Whether two names may mean the same: equal letters, in the singular or the plural.
    package static func match(_ left: String, _ right: String) -> Bool {
        let (left, right) = (plain(left), plain(right))
        return left == right || singular(left) == singular(right)
    }

    /// Returns a type's name without affixes that only mark it as a type.
    package static func withoutTypeMarks(_ name: String) -> String {
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
