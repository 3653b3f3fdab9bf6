internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

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
        guard mayHaveVariables(text) else { return text }
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
        guard mayHaveVariables(text) else { return .text(text) }
        let (inner, _) = unwrapped(text)
        if let name = soleVariable(inner), variables.knows(name), let literal = variables.literal(name) {
            return literal
        }
        return expand(text, variables).map { .text($0) }
    }

    /// Returns the variables that a text cannot do without, or none for an optional part.
    static func needed(in text: String, _ variables: TemplateVariables) -> [String] {
        guard mayHaveVariables(text) else { return [] }
        let (text, isOptional) = unwrapped(text)
        guard !isOptional else { return [] }
        let isPlain = isPlain(text)
        return text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { piece in
            guard let close = piece.firstIndex(of: "}") else { return nil }
            let name = String(piece[..<close])
            return variables.knows(name, isPlain: isPlain) ? name : nil
        }
    }

    /// A text with variables, and the name under which its value is sent.
    typealias Named = (name: String, text: String)

    /// Returns the texts of an object's members; a list has several of one name.
    static func lists(_ options: BridgeOptions?) -> [Named] {
        (options?.names ?? []).flatMap { name in (options?.strings(name) ?? []).map { (name: name, text: $0) } }
    }

    /// Returns the text of each member of an object.
    static func texts(_ options: BridgeOptions?) -> [Named] {
        (options?.names ?? []).map { (name: $0, text: options?.string($0) ?? "") }
    }

    /// Returns the texts with variables replaced, without those whose variable has no value.
    static func expand(_ texts: [Named], _ variables: TemplateVariables) -> [(name: String, value: String)] {
        texts.compactMap { name, text in expand(text, variables).map { (name: name, value: $0) } }
    }

    /// A cheap test for the many texts without variables.
    private static func mayHaveVariables(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "{")) }

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
