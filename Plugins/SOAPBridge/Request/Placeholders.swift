internal import BridgeKit

/// Replaces placeholders in an input: `{parent.NAME}` and `{since}`; in writes also `{key.NAME}` and `{object.NAME}`.
struct Placeholders {
    var parent: BridgeOptions?
    var since: String?
    var key: BridgeOptions?
    var object: BridgeOptions?

    /// Returns the input with placeholders replaced, without the texts and members whose value is null.
    ///
    /// A null value of a parent requires the form `({parent.NAME})` for the whole text, see ``skipped(in:)``.
    ///
    /// - Throws: ``BridgeError`` configuration for a parent's placeholder in an entity without a parent.
    func filled(_ input: InputValue) throws(BridgeError) -> InputValue { try fill(input) ?? .object([]) }

    /// Returns why the parent's children cannot be requested: with a null value, the request would return the children
    /// of all parents.
    func skipped(in input: InputValue) -> SkippedParent? {
        switch input {
        case .null, .bytes: return nil
        case .array(let elements): return elements.lazy.compactMap(skipped).first
        case .object(let members): return members.lazy.compactMap { skipped(in: $0.value) }.first
        case .text(let text):
            guard let parent, !Self.isOptional(text) else { return nil }
            let names = text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { piece in
                piece.firstIndex(of: "}").map { String(piece[..<$0]) }
            }
            let missing = names.first {
                $0.hasPrefix("parent.") && parent.string(String($0.dropFirst("parent.".count))) == nil
            }
            return missing.map { SkippedParent($0, option: "input") }
        }
    }

    private static func isOptional(_ text: String) -> Bool {
        text.hasPrefix("({parent.") && text.hasSuffix("})") && text.count { $0 == "{" } == 1
    }

    private func fill(_ value: InputValue) throws(BridgeError) -> InputValue? {
        switch value {
        case .null, .bytes: return value
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

    private func fill(_ wrapped: String) throws(BridgeError) -> String? {
        guard ["{since}", "{parent.", "{key.", "{object."].contains(where: wrapped.contains) else { return wrapped }
        let text = Self.isOptional(wrapped) ? String(wrapped.dropFirst().dropLast()) : wrapped
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
                        .configuration, "the input names {\(name)}, but the entity has no parent",
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
