internal import TextFormats

extension ConfigValue {
    /// Parses a JSON text (RFC 8259).
    ///
    /// - Throws: ``JSONFault`` for a text that is not JSON, is larger than 1 MiB or deeper than 64 levels, or has an
    ///   object with a duplicate key.
    package init(json text: String) throws(JSONFault) {
        var reader = JSONReader(bytes: Array(text.utf8))
        self = try reader.document()
    }

    /// The value as JSON, indented by two spaces.
    ///
    /// A secret is written as its reference.
    package var json: String {
        var text = ""
        write(to: &text, indentation: "")
        return text
    }

    private func write(to text: inout String, indentation: String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .int(let number): text += String(number)
        case .double(let number): text += number.isFinite ? "\(number)" : "null"
        case .string(let string): text.appendJSONString(string)
        case .secret(.env(let name)): ConfigValue.object([("env", .string(name))]).write(to: &text, indentation: "")
        case .secret(.file(let path)): ConfigValue.object([("file", .string(path))]).write(to: &text, indentation: "")
        case .array(let elements):
            let isFlat = elements.allSatisfy { $0.array == nil && $0.members == nil }
            Self.write(elements, "[", "]", flat: isFlat, to: &text, indentation) { element, text, indentation in
                element.write(to: &text, indentation: indentation)
            }
        case .object(let members):
            let isFlat = members.count == 1 && members.allSatisfy { $0.value.array == nil && $0.value.members == nil }
            Self.write(members, "{", "}", flat: isFlat, to: &text, indentation) { member, text, indentation in
                text.appendJSONString(member.key)
                text += ": "
                member.value.write(to: &text, indentation: indentation)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: String, _ close: String, flat: Bool, to text: inout String,
        _ indentation: String, _ writeElement: (Element, inout String, String) -> Void
    ) {
        text += open
        let inner = indentation + "  "
        for (index, element) in elements.enumerated() {
            if index > 0 { text += flat ? ", " : "," }
            if !flat { text += "\n" + inner }
            writeElement(element, &text, inner)
        }
        if !flat, !elements.isEmpty { text += "\n" + indentation }
        text += close
    }
}
