/// A text of a query, a header or a body in which `{since}`, `{parent.id}` and other known variables stand for values.
///
/// Braces around anything else stay as they are: they mean other things to other languages.
enum ValueTemplate {
    /// The text with its values, as it is: whoever sends it encodes it.
    ///
    /// - Returns: nil where a variable has no value: then the parameter, header or member is left out.
    static func expand(_ text: String, _ variables: TemplateVariables) -> String? {
        var out = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            out += rest[..<open]
            rest = rest[rest.index(after: open)...]
            guard let close = rest.firstIndex(of: "}"), variables.knows(String(rest[..<close])) else {
                out += "{"
                continue
            }
            guard let value = variables.value(String(rest[..<close])) else { return nil }
            out += value
            rest = rest[rest.index(after: close)...]
        }
        return out + rest
    }

    /// The same for a member of a JSON body: a text that is one variable becomes a number or bool where the variable is one.
    static func expandJSON(_ text: String, _ variables: TemplateVariables) -> JSONTree? {
        if text.hasPrefix("{"), text.hasSuffix("}"), text.dropFirst().dropLast().allSatisfy({ $0 != "{" && $0 != "}" })
        {
            let name = String(text.dropFirst().dropLast())
            if variables.knows(name), let literal = variables.literal(name) { return literal }
        }
        return expand(text, variables).map { .text($0) }
    }
}
