internal import Model
internal import TextFormats

/// The variables of a collection, `{{name}}`.
struct PostmanVariables {
    private let values: [String: String]

    init(_ list: [ConfigValue]) {
        var values: [String: String] = [:]
        for variable in list where variable["disabled"]?.bool != true {
            guard let name = (variable["key"] ?? variable["id"])?.string, let value = variable["value"], value != .null,
                variable["type"]?.string != "secret", !SecretNames.suggests(name), value.printed != ""
            else { continue }
            values[name] = value.printed
        }
        self.values = values
    }

    /// Returns a text with the known variables replaced; a value may have variables, too.
    func text(_ given: String) -> String {
        var text = given
        for _ in 0..<5 {
            var isChanged = false
            text = Self.replacing(text) { name in
                isChanged = isChanged || values[name] != nil
                return values[name]
            }
            if !isChanged { break }
        }
        return text
    }

    /// Replaces variables; one without a replacement stays.
    ///
    /// - Parameter literal: Returns what becomes of the text between variables.
    static func replacing(
        _ text: String, literal: (Substring) -> String = { String($0) }, _ replacement: (String) -> String?
    ) -> String {
        var out = ""
        var rest = text[...]
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            let name = String(rest[open.upperBound..<close.lowerBound])
            out += literal(rest[..<open.lowerBound]) + (replacement(name) ?? "{{\(name)}}")
            rest = rest[close.upperBound...]
        }
        return out + literal(rest)
    }
}
