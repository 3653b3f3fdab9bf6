internal import BridgeHTTP
internal import BridgeJSON

/// A text of a query, a header or a body with known variables such as `{since}` and `{parent.id}`.
///
/// Other braces stay unchanged, since they have meanings in other languages. Inside quotes, values are escaped as
/// described at ``QuoteState``. `({parent.id})` or `({user_info.id})` as the whole text is an optional part; `\(` and
/// `\)` around it are literal parentheses.
enum ValueTemplate {
    /// Returns the text with variables replaced, for the sender to encode.
    ///
    /// - Returns: nil if a variable has no value. The parameter, header or member is left out then.
    static func expand(_ text: String, _ variables: TemplateVariables) -> String? {
        let (text, _) = unwrapped(text)
        let isPlain = isPlain(text)
        var quotes = QuoteState(text)
        var out = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            out += rest[..<open]
            quotes.pass(rest[..<open])
            rest = rest[rest.index(after: open)...]
            guard let close = rest.firstIndex(of: "}"), variables.knows(String(rest[..<close]), isPlain: isPlain) else {
                out += "{"
                continue
            }
            guard let value = variables.value(String(rest[..<close]), keepsEmpty: true) else { return nil }
            rest = rest[rest.index(after: close)...]
            out += quotes.escaped(value, before: rest)
        }
        return out + rest
    }

    /// Returns the value for a member of a JSON body.
    ///
    /// A text that is a single variable becomes a number or bool if the variable is one.
    static func expandJSON(_ text: String, _ variables: TemplateVariables) -> JSONTree? {
        let (inner, _) = unwrapped(text)
        if let name = soleVariable(inner), variables.knows(name), let literal = variables.literal(name) {
            return literal
        }
        return expand(text, variables).map { .text($0) }
    }

    /// Returns the variables that a text cannot do without, or none for an optional part.
    static func needed(in text: String, _ variables: TemplateVariables) -> [String] {
        let (text, isOptional) = unwrapped(text)
        guard !isOptional else { return [] }
        let isPlain = isPlain(text)
        return text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { piece in
            guard let close = piece.firstIndex(of: "}") else { return nil }
            let name = String(piece[..<close])
            return variables.knows(name, isPlain: isPlain) ? name : nil
        }
    }

    /// Whether the text has no braces within braces, as another language would.
    private static func isPlain(_ text: String) -> Bool {
        var depth = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "}") { depth -= 1 }
            guard (0...1).contains(depth) else { return false }
        }
        return true
    }

    private static func soleVariable(_ text: String) -> String? {
        guard text.hasPrefix("{"), text.hasSuffix("}") else { return nil }
        let name = text.dropFirst().dropLast()
        return name.contains { $0 == "{" || $0 == "}" } ? nil : String(name)
    }

    /// Returns the text without the parentheses of an optional part, or without the `\` of literal ones.
    private static func unwrapped(_ text: String) -> (text: String, isOptional: Bool) {
        for source in ["parent", "user_info"] {
            if text.hasPrefix("({\(source)."), text.hasSuffix("})") {
                let inner = String(text.dropFirst().dropLast())
                if soleVariable(inner) != nil { return (inner, true) }
            }
            if text.hasPrefix(#"\({\#(source)."#), text.hasSuffix(#"}\)"#),
                soleVariable(String(text.dropFirst(2).dropLast(2))) != nil
            {
                return ("(" + text.dropFirst(2).dropLast(2) + ")", false)
            }
        }
        return (text, false)
    }
}
