/// Converts a node to a value without a schema.
enum NaturalValue {
    /// Converts a node for a reader that takes each number for an integer or a double.
    static func of(_ node: YAMLNode) -> ConfigValue {
        switch node.content {
        case .scalar: node.scalar ?? .null
        case .sequence(let elements): .array(elements.map { of($0) })
        case .mapping(let pairs):
            .object(pairs.compactMap { pair in pair.key.keyName.map { ($0, of(pair.value)) } })
        }
    }

    /// Converts a node with every digit of its numbers, such as those of a body that is sent.
    static func exact(_ node: YAMLNode) -> ConfigValue {
        switch node.content {
        case .scalar: node.exactScalar ?? .null
        case .sequence(let elements): .array(elements.map { exact($0) })
        case .mapping(let pairs):
            .object(pairs.compactMap { pair in pair.key.keyName.map { ($0, exact(pair.value)) } })
        }
    }

    /// Converts a node, with every digit, whose texts may be `{env: NAME}` or `{file: PATH}`, at any depth.
    static func withSecrets(_ node: YAMLNode) -> ConfigValue {
        if let reference = SecretReference(node) { return .secret(reference) }
        return switch node.content {
        case .scalar: exact(node)
        case .sequence(let elements): .array(elements.map { withSecrets($0) })
        case .mapping(let pairs):
            .object(pairs.compactMap { pair in pair.key.keyName.map { ($0, withSecrets(pair.value)) } })
        }
    }
}

extension YAMLNode {
    /// The text of a key; nil if it is not text: `1`, `true`, `null`, a list, a mapping.
    var keyName: String? {
        if case .string(let name) = scalar { name } else { nil }
    }
}

extension SecretReference {
    /// Creates a reference from `{env: NAME}` or `{file: PATH}`; nil for anything else.
    init?(_ node: YAMLNode) {
        guard case .mapping(let pairs) = node.content, pairs.count == 1, let pair = pairs.first,
            let text = pair.value.scalarText, !pair.value.isNull
        else { return nil }
        switch pair.key.keyName {
        case "env" where Self.isVariableName(text): self = .env(text)
        case "file" where !text.isEmpty && !text.utf8.contains(0): self = .file(text)
        default: return nil
        }
    }

    private static func isVariableName(_ text: String) -> Bool {
        Naming.isIdentifier(text)
    }
}
