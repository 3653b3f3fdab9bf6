internal import BridgeKit

/// The values that an input may name: `{parent.NAME}`, `{since}`, and of a write `{key.NAME}` and `{object.NAME}`.
struct Placeholders {
    var parent: BridgeOptions?
    var since: String?
    var key: BridgeOptions?
    var object: BridgeOptions?

    /// The input with values in place of their names; a member of a value that is not there is left out.
    ///
    /// - Throws: ``BridgeError`` configuration for a name of a parent where there is none.
    func filled(_ input: InputValue) throws(BridgeError) -> InputValue { try fill(input) ?? .object([]) }

    private func fill(_ value: InputValue) throws(BridgeError) -> InputValue? {
        switch value {
        case .null: return .null
        case .text(let text): return try fill(text).map(InputValue.text)
        case .array(let elements):
            var filled: [InputValue] = []
            for element in elements { if let value = try fill(element) { filled.append(value) } }
            return .array(filled)
        case .object(let members):
            var filled: [InputValue.Member] = []
            for member in members {
                guard let value = try fill(member.value) else { continue }
                filled.append(InputValue.Member(name: member.name, value: value))
            }
            return .object(filled)
        }
    }

    private func fill(_ text: String) throws(BridgeError) -> String? {
        guard ["{since}", "{parent.", "{key.", "{object."].contains(where: text.contains) else { return text }
        var out = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            out += rest[..<open]
            let name = rest[rest.index(after: open)..<close]
            rest = rest[rest.index(after: close)...]
            if name == "since" {
                guard let since else { return nil }
                out += since
            } else if name.hasPrefix("parent.") {
                guard let parent else {
                    throw BridgeError(
                        .configuration, "the input names {\(name)}, and the entity has no parent",
                        remedy: "add \"parent:\" to the entity")
                }
                guard let value = parent.string(String(name.dropFirst(7))) else { return nil }
                out += value
            } else if name.hasPrefix("key."), let key {
                guard let value = key.string(String(name.dropFirst(4))) else { return nil }
                out += value
            } else if name.hasPrefix("object."), let object {
                guard let value = object.string(String(name.dropFirst(7))) else { return nil }
                out += value
            } else {
                out += "{\(name)}"
            }
        }
        return out + rest
    }
}
