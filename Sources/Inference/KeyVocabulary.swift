/// The words in the names of keys, in order of precedence.
package enum KeyVocabulary {
    /// Names of fields that identify an object in any entity.
    package static let certain = [
        KeyTerm("id", [.member, .element, .column]),
        KeyTerm("_id", .member),
        KeyTerm("uuid guid", [.member, .element, .column]),
        KeyTerm("oid", .element),
        KeyTerm("uid gid pageid objectid", .member),
        KeyTerm("key code number nr no @id", .column),
    ]
    /// The rest of a field's name after the entity's, as in `countryCode`.
    ///
    /// In a table, any name with one of these words behind a `_`.
    package static let endings = [
        KeyTerm("id", [.member, .element, .column]),
        KeyTerm("code key no number", [.element, .column]),
        KeyTerm("nr", .column),
        KeyTerm("uuid guid uid key code number no sku", .member),
        KeyTerm("guid uuid", .element),
        KeyTerm("name", [.member, .element]),
    ]
    /// Names of fields that usually identify an object.
    package static let likely = [
        KeyTerm("code key", [.member, .element]),
        KeyTerm("slug", .member),
        KeyTerm("sku isbn", [.member, .element]),
        KeyTerm("number", .element),
        KeyTerm("symbol", [.member, .element]),
        KeyTerm("identifier", .member),
        KeyTerm("login username", [.member, .element]),
        KeyTerm("@id arn", .member),
        KeyTerm("token ref reference handle", .element),
    ]
    /// The last word of a name that ends like a key.
    package static let lastWords = [
        KeyTerm("id key code uuid", [.member, .element]),
        KeyTerm("guid token", .element),
    ]
    /// Names of fields that serve as a key for want of a better one.
    ///
    /// Files in different folders may share a name, so `path` comes before `name`.
    package static let fallback = [
        KeyTerm("number path", .member),
        KeyTerm("name", [.member, .element]),
        KeyTerm("title", .element),
        KeyTerm("email", [.member, .element]),
        KeyTerm("href self", .member),
        KeyTerm("url uri", [.member, .element]),
        KeyTerm("title", .member),
    ]
}

/// Names of keys, with the kinds of fields that may have them.
package struct KeyTerm: Sendable {
    /// Kinds of fields.
    package struct Uses: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A member of a JSON object.
        package static let member = Uses(rawValue: 1 << 0)
        /// An element that a schema describes, compared by ``NameWords/plain(_:)``.
        package static let element = Uses(rawValue: 1 << 1)
        /// A column of a table, compared without case.
        package static let column = Uses(rawValue: 1 << 2)
    }

    let names: [String]
    let uses: Uses

    /// - Parameter words: Names between spaces.
    package init(_ words: String, _ uses: Uses) {
        names = words.split(separator: " ").map(String.init)
        self.uses = uses
    }
}

extension [KeyTerm] {
    /// Returns the names for a kind of field, in order of precedence.
    package func names(_ use: KeyTerm.Uses) -> [String] { filter { $0.uses.contains(use) }.flatMap(\.names) }
}
