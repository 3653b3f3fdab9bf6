internal import Model

/// The texts of a dlt configuration: placeholders as of Python's `str.format`, and paths of JSONPath.
enum DLTText {
    /// Returns the names of the placeholders.
    static func names(in text: String) -> [String] {
        var names: [String] = []
        _ = replacing(text) { name in
            names.append(name)
            return nil
        }
        return names
    }

    /// Replaces placeholders; one without a replacement stays, and doubled braces become single ones.
    static func replacing(_ text: String, _ replacement: (String) -> String?) -> String {
        var out = ""
        var rest = text[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            out += rest[..<open]
            let brace = rest[open]
            rest = rest[rest.index(after: open)...]
            if rest.first == brace {
                out.append(brace)
                rest = rest.dropFirst()
                continue
            }
            guard brace == "{", let close = rest.firstIndex(of: "}") else {
                out.append(brace)
                continue
            }
            let name = String(rest[..<close])
            let isName = !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
            guard isName else {
                out.append("{")
                continue
            }
            out += replacement(name) ?? "{\(name)}"
            rest = rest[rest.index(after: close)...]
        }
        return out + rest
    }

    /// Returns a path as bmo reads it, `$.data.items`; nil for expressions that only jsonpath-ng knows.
    static func path(_ given: String) -> String? {
        let bare = given.hasPrefix("$") ? String(given.dropFirst()) : "." + given
        guard !bare.contains(".."), !bare.contains("?"), !bare.contains("`"), !bare.contains("|"), !bare.contains(":")
        else { return nil }
        // jsonpath-ng takes `data[*]`, and so does bmo.
        return "$" + (bare == "." ? "" : bare)
    }
}

extension ConfigValue {
    /// All texts in the value.
    var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(\.texts)
        case .object(let members): members.flatMap { $0.value.texts }
        default: []
        }
    }
}
