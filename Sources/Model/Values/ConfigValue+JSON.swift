package import TextFormats

extension ConfigValue {
    /// Parses a JSON text (RFC 8259).
    ///
    /// - Throws: ``JSONFault`` for a text that is not JSON, is larger than 1 MiB or deeper than 64 levels, or has an
    ///   object with a duplicate key.
    package init(json text: String) throws(JSONFault) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.largestJSON else {
            throw JSONFault(offset: Self.largestJSON, reason: "more than 1 MiB")
        }
        var builder = JSONBuilder()
        var tokens = JSONTokenizer(bytes, maxDepth: 64)
        while let token = try tokens.next() {
            if let reason = builder.add(token) {
                let isNumber = if case .number = token { true } else { false }
                throw JSONFault(offset: isNumber ? tokens.start : tokens.offset, reason: reason)
            }
        }
        self = builder.value
    }

    /// Schemas come from plugins, which are not trusted.
    private static let largestJSON = 1 << 20

    /// Builds a value from the tokens of a text.
    private struct JSONBuilder {
        private(set) var value = ConfigValue.null
        private var open: [Container] = []

        private enum Container {
            case array([ConfigValue])
            case object([(key: String, value: ConfigValue)], names: Set<[UInt8]>, name: String)
        }

        /// Adds a token; returns the reason why it is refused.
        mutating func add(_ token: JSONToken) -> String? {
            switch token {
            case .null: put(.null)
            case .bool(let value): put(.bool(value))
            case .string(let text): put(.string(text))
            case .number(let text):
                guard text.utf8.count <= 64 else { return "expected a value" }
                switch CoreSchema.resolve(text) {
                case .int(let number): put(.int(number))
                case .double(let number) where number.isFinite: put(.double(number))
                default: return "no number"
                }
            case .beginArray: open.append(.array([]))
            case .beginObject: open.append(.object([], names: [], name: ""))
            case .endArray, .endObject:
                switch open.popLast() {
                case .array(let elements): put(.array(elements))
                case .object(let members, _, _): put(.object(members))
                case nil: break
                }
            case .key(let name):
                guard case .object(let members, var names, _) = open.popLast() else { return nil }
                guard names.insert(Array(name.utf8)).inserted else { return "duplicate key \(quoted(name))" }
                open.append(.object(members, names: names, name: name))
            }
            return nil
        }

        private mutating func put(_ value: ConfigValue) {
            switch open.popLast() {
            case nil: self.value = value
            case .array(var elements):
                elements.append(value)
                open.append(.array(elements))
            case .object(var members, let names, let name):
                members.append((name, value))
                open.append(.object(members, names: names, name: name))
            }
        }
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
        case .decimal(let number): text += number
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
