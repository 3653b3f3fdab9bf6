/// The Link header field (RFC 8288, section 3).
public enum LinkHeader {
    private struct Link {
        let target: String
        let relations: [String]
    }

    /// Returns the target of the first link with the relation `next`.
    ///
    /// A text that is not a link does not hide the links behind it.
    ///
    /// - Parameter values: The values of the field, which may come several times.
    public static func next(_ values: [String]) -> String? {
        for value in values {
            if let link = links(in: value).links.first(where: { $0.relations.contains("next") }) { return link.target }
        }
        return nil
    }

    /// Whether the links identify the reply as a page of a listing.
    public static func hasPaging(_ values: [String]) -> Bool {
        values.contains { value in
            links(in: value).links.contains { link in
                !Set(["first", "last", "prev", "previous"]).isDisjoint(with: link.relations)
            }
        }
    }

    /// Returns the first value with a text that is not a link and has the word next; nil if a link has that relation.
    ///
    /// The text may be the link to the next page.
    package static func unreadable(_ values: [String]) -> String? {
        let parsed = values.map { links(in: $0) }
        guard !parsed.contains(where: { $0.links.contains { $0.relations.contains("next") } }) else { return nil }
        let index = parsed.firstIndex { $0.unread.contains { $0.lowercased().contains("next") } }
        return index.map { values[$0] }
    }

    /// Returns the links of one value, and the texts in it that may be links but cannot be read.
    private static func links(in value: String) -> (links: [Link], unread: [Substring]) {
        var rest = value[...]
        var links: [Link] = []
        var unread: [Substring] = []
        while true {
            rest = rest.drop { isBlank($0) || $0 == "," }
            guard !rest.isEmpty else { return (links, unread) }
            if let link = parse(&rest, &unread) {
                links.append(link)
            } else {
                let text = rest
                skip(&rest, endsAtSemicolon: false)
                unread.append(text[..<rest.startIndex])
            }
        }
    }

    /// Parses one link from the front: `<target>; name=token; name="quoted, text"`; nil without a target.
    private static func parse(_ rest: inout Substring, _ unread: inout [Substring]) -> Link? {
        guard let target = target(&rest) else { return nil }
        var relations: [String]?
        var isBehindRelation = false
        // Texts that do not matter beside a rel that can be read, such as a title without quotes.
        var others: [Substring] = []
        var hasAnchor = false
        var isEmpty = false
        while true {
            let text = rest
            if skip(&rest, endsAtSemicolon: true) {
                let skipped = text[..<rest.startIndex]
                // Only a text with a comma or a quote can hide another link.
                if isBehindRelation || skipped.contains(where: { $0 == "," || $0 == "\"" }) {
                    unread.append(skipped)
                } else {
                    others.append(skipped)
                }
            }
            guard rest.first == ";" else { break }
            rest = rest.dropFirst().drop(while: isBlank)
            let name = rest.prefix(while: isTokenCharacter)
            rest = rest[name.endIndex...].drop(while: isBlank)
            isBehindRelation = name.lowercased() == "rel"
            let start = rest
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop(while: isBlank)
                value = parameterValue(&rest, &unread)
            }
            switch name.lowercased() {
            // The link's context is a resource other than the reply (section 3.2).
            case "anchor": hasAnchor = true
            // Sentry's last page links to a next page and marks it as having no results.
            case "results": isEmpty = isEmpty || value.lowercased() == "false"
            // Only the first rel counts (section 3.3).
            case "rel" where relations == nil:
                relations = value.lowercased().split { isBlank($0) || $0 == "," }.map(String.init)
            // A relation has no encoded form.
            case "rel*": unread.append(start[..<rest.startIndex])
            default: break
            }
        }
        if (relations ?? []).isEmpty { unread += others }
        let all = hasAnchor ? [] : relations ?? []
        return Link(target: target, relations: isEmpty ? all.map { $0 == "next" ? "prev" : $0 } : all)
    }

    /// Takes `<target>` from the front; nil if neither a parameter nor a link follows, as behind a `>` in the URL.
    private static func target(_ rest: inout Substring) -> String? {
        guard rest.first == "<" else { return nil }
        // Another `<` ends the search, so that many of them do not each search the whole value.
        let target = rest.dropFirst().prefix { $0 != "<" && $0 != ">" }
        var others = rest[target.endIndex...]
        guard others.popFirst() == ">" else { return nil }
        others = others.drop(while: isBlank)
        guard others.first.map({ $0 == ";" || $0 == "," }) ?? true else { return nil }
        rest = others
        var text = target.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return String(text)
    }

    /// Takes a value from the front: a token, or a text in quotes.
    private static func parameterValue(_ rest: inout Substring, _ unread: inout [Substring]) -> String {
        if rest.first == "\"" {
            let start = rest
            let (text, isClosed) = quoted(&rest)
            if !isClosed { unread.append(start) }
            return text
        }
        // Some servers write single quotes, which a token may have, too.
        if rest.first == "'" {
            let text = rest.dropFirst().prefix { !"'\"<;".contains($0) }
            let others = rest[text.endIndex...]
            if others.first == "'" {
                rest = others.dropFirst()
                return String(text)
            }
        }
        let token = rest.prefix { !isBlank($0) && $0 != ";" && $0 != "," }
        rest = rest[token.endIndex...]
        return String(token)
    }

    private static func quoted(_ rest: inout Substring) -> (text: String, isClosed: Bool) {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst() {
            if character == "\"" { return (text, true) }
            text.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return (text, false)
    }

    /// Skips to the comma before the next link, or to the end; with `endsAtSemicolon`, at most to the next parameter.
    ///
    /// - Returns: Whether it skipped more than blanks and commas.
    @discardableResult
    private static func skip(_ rest: inout Substring, endsAtSemicolon: Bool) -> Bool {
        var isText = false
        var isBehindComma = false
        while let character = rest.first {
            switch character {
            // Behind a comma, a parameter may be that of a link without its brackets.
            case ";" where endsAtSemicolon && !isBehindComma: return isText
            case ",":
                let following = rest.dropFirst().first { !isBlank($0) }
                if following == nil || following == "<" { return isText }
                isBehindComma = isBehindComma || following != ","
                isText = isText || isBehindComma
                rest.removeFirst()
            case "\"":
                _ = quoted(&rest)
                isText = true
            default:
                isText = isText || !isBlank(character)
                rest.removeFirst()
            }
        }
        return isText
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    /// Whether a token may have a character (RFC 9110, section 5.6.2).
    private static func isTokenCharacter(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
    }
}
