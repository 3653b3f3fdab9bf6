internal import Model
internal import Yams

/// Reads a manifest's YAML 1.1 as Airbyte does: the last of several equal keys wins, and `<<` merges.
enum ManifestText {
    /// The maximum nesting depth of values; with references resolved, it may be twice as deep.
    static let maxDepth = 200
    /// A manifest has a few thousand values; anchors could multiply them.
    private static let maxValues = 5_000_000

    /// Reads JSON, or YAML if it is not JSON.
    static func readDocument(_ text: String, name: String) throws -> ConfigValue {
        if let value = try? ConfigValue(json: text) { return value }
        return try read(text, name: name)
    }

    /// - Throws: ``ManifestFault`` if the text is not YAML.
    static func read(_ text: String, name: String) throws -> ConfigValue {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ManifestFault("\(name) is not YAML that can be read: \(YAMLText.line("\(error)"))")
        }
        guard let root else { return .null }
        var count = 0
        return try value(root, &count, 0, name)
    }

    private static func value(_ node: Node, _ count: inout Int, _ depth: Int, _ name: String) throws -> ConfigValue {
        count += 1
        guard count < maxValues else { throw ManifestFault("\(name) has more than \(maxValues) values") }
        guard depth < maxDepth else { throw ManifestFault("\(name) has values that are nested too deeply") }
        switch node {
        case .scalar(let scalar): return self.scalar(scalar)
        case .sequence(let sequence): return .array(try sequence.map { try value($0, &count, depth + 1, name) })
        case .mapping(let mapping):
            var members: [(key: String, value: ConfigValue)] = []
            var merged: [(key: String, value: ConfigValue)] = []
            for (key, node) in mapping {
                let key = key.scalar?.string ?? ""
                let value = try value(node, &count, depth + 1, name)
                if key == "<<" {
                    for part in value.array ?? [value] { merged += part.members ?? [] }
                } else {
                    members.append((key, value))
                }
            }
            members += merged.filter { extra in !members.contains { $0.key == extra.key } }
            return .object(members)
        default: return .null
        }
    }

    private static func scalar(_ scalar: Node.Scalar) -> ConfigValue {
        let text = scalar.string
        guard scalar.style == .plain || scalar.style == .any else { return .string(text) }
        switch text.lowercased() {
        case "", "~", "null": return .null
        case "true", "yes", "on": return .bool(true)
        case "false", "no", "off": return .bool(false)
        default: break
        }
        guard text.utf8.first.map({ "+-.0123456789".utf8.contains($0) }) ?? false else { return .string(text) }
        if let number = Int64(text) { return .int(number) }
        if text.contains("."), let number = Double(text), number.isFinite { return .double(number) }
        return .string(text)
    }
}
