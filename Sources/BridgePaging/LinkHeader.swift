/// The Link header field (RFC 8288, section 3).
public enum LinkHeader {
    /// Returns the target of the first link with the relation `next`.
    ///
    /// - Parameter values: The values of the field, which may come several times.
    public static func next(_ values: [String]) -> String? {
        for value in values {
            var rest = value[...]
            while let link = parse(&rest) {
                if link.relations.contains("next") { return link.target }
            }
        }
        return nil
    }

    /// Whether the links identify the reply as a page of a listing.
    public static func hasPaging(_ values: [String]) -> Bool {
        values.contains { value in
            var rest = value[...]
            while let link = parse(&rest) {
                if !Set(["first", "last", "prev", "previous"]).isDisjoint(with: link.relations) { return true }
            }
            return false
        }
    }

    /// Parses one link from the front: `<target>; name=token; name="quoted, text"`.
    private static func parse(_ rest: inout Substring) -> (target: String, relations: [String])? {
        rest = rest.drop { $0 == " " || $0 == "," || $0 == "\t" }
        guard rest.popFirst() == "<", let end = rest.firstIndex(of: ">") else { return nil }
        let target = String(rest[..<end])
        rest = rest[rest.index(after: end)...]
        var relations: [String]?
        var hasAnchor = false
        var isEmpty = false
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard rest.first == ";" else { break }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { !"=;, \t".contains($0) }.lowercased()
            rest = rest.drop { !"=;,".contains($0) }
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
                value = rest.first == "\"" ? quoted(&rest) : token(&rest)
            }
            // The link's context is a resource other than the reply (section 3.2).
            if name == "anchor" { hasAnchor = true }
            // Sentry's last page links to a next page and marks it as having no results.
            if name == "results", value.lowercased() == "false" { isEmpty = true }
            // Only the first rel counts (section 3.3).
            if name == "rel", relations == nil {
                relations = value.lowercased().split(separator: " ").map(String.init)
            }
        }
        let all = hasAnchor ? [] : relations ?? []
        return (target, isEmpty ? all.map { $0 == "next" ? "prev" : $0 } : all)
    }

    private static func token(_ rest: inout Substring) -> String {
        let token = rest.prefix { !";, \t".contains($0) }
        rest = rest[token.endIndex...]
        return String(token)
    }

    private static func quoted(_ rest: inout Substring) -> String {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
            text.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return text
    }
}
