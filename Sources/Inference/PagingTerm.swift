/// Names for one part of paging, with the places where they have that meaning.
package struct PagingTerm: Sendable {
    /// The places where a name counts.
    package struct Uses: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A member of a reply, spelled exactly so.
        package static let member = Uses(rawValue: 1 << 0)
        /// A member of a reply that has no other meaning.
        package static let clear = Uses(rawValue: 1 << 1)
        /// A member that promises more records, compared by its letters and digits only.
        package static let promise = Uses(rawValue: 1 << 2)
        /// A parameter with a number in the request.
        package static let asked = Uses(rawValue: 1 << 3)
        /// A parameter of the request that takes the page whose number the reply states.
        package static let counted = Uses(rawValue: 1 << 4)
        /// A variable of a GraphQL query.
        package static let variable = Uses(rawValue: 1 << 5)
        /// A parameter that an API's document describes, compared without separators and case.
        package static let documented = Uses(rawValue: 1 << 6)
        /// A parameter to try for a cursor.
        package static let tried = Uses(rawValue: 1 << 7)
        /// A parameter that may take a number other than a cursor: a row number, an exclusive id, or a time.
        package static let counts = Uses(rawValue: 1 << 8)
        /// A parameter whose 0 asks for the beginning.
        package static let begins = Uses(rawValue: 1 << 9)
        /// A parameter that limits the number of records, compared by its letters and digits only.
        package static let limit = Uses(rawValue: 1 << 10)
        /// In an API's document, the other names come first.
        package static let last = Uses(rawValue: 1 << 11)
    }

    /// The names in all spellings, in order of precedence.
    package let names: [String]
    package let uses: Uses
    /// The parameter that takes the value of a cursor with these names.
    package let parameter: String?
    /// The objects of a reply that contain such a member in APIs' documents.
    package let homes: [[String]]

    /// - Parameters:
    ///   - words: Names between spaces. A hyphen stands for both spellings: `page-size` is `page_size` and `pageSize`.
    ///   - homes: Paths between spaces, `$` for the reply itself.
    package init(_ words: String, _ uses: Uses = .member, for parameter: String? = nil, in homes: String = "") {
        names = words.split(separator: " ").flatMap(Self.spellings)
        self.uses = uses
        self.parameter = parameter
        self.homes = homes.split(separator: " ").map { $0 == "$" ? [] : $0.split(separator: ".").map(String.init) }
    }

    private static func spellings(_ word: Substring) -> [String] {
        let words = word.split(separator: "-")
        guard let first = words.first, words.count > 1 else { return [String(word)] }
        return [words.joined(separator: "_"), words.dropFirst().reduce(String(first)) { $0 + $1.capitalized }]
    }

    /// Returns the name without case and separators: `Page-Size` and `page_size` are equal, `page[size]` keeps its
    /// brackets.
    package static func documented(_ name: String) -> String { name.lowercased().filter { !"_-. ".contains($0) } }

    /// Returns only the letters and digits of the name, in lowercase.
    package static func plain(_ name: some StringProtocol) -> String {
        name.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

extension [PagingTerm] {
    /// Returns the names with a use, in order of precedence.
    package func names(_ use: PagingTerm.Uses) -> [String] { filter { $0.uses.contains(use) }.flatMap(\.names) }

    /// Returns the letters and digits of the names with a use.
    package func plainNames(_ use: PagingTerm.Uses) -> Set<String> { Set(names(use).map(PagingTerm.plain)) }

    /// The names of parameters in APIs' documents, in order of precedence.
    package var documented: [String] {
        let terms = filter { $0.uses.contains(.documented) }
        return (terms.filter { !$0.uses.contains(.last) } + terms.filter { $0.uses.contains(.last) })
            .flatMap(\.names).map(PagingTerm.documented)
    }

    /// The paths of members in the replies of APIs' documents, in order of precedence.
    package var places: [[String]] {
        (filter { !$0.uses.contains(.last) } + filter { $0.uses.contains(.last) }).flatMap { term in
            term.names.flatMap { name in term.homes.map { $0 + [name] } }
        }
    }
}

extension Substring {
    /// The word with an uppercase initial.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
