internal import Model

/// Replaces `$ref` and texts such as `#/definitions/name` with what they refer to.
///
/// A component's own members precede those of its reference, as in the CDK's ManifestReferenceResolver.
struct References {
    let manifest: ConfigValue
    private var open: Set<String> = []
    private var count = 0
    private var depth = 0
    /// References to references could multiply endlessly.
    private static let maxValues = 5_000_000

    init(_ manifest: ConfigValue) { self.manifest = manifest }

    /// - Throws: ``ManifestFault`` for a reference that leads nowhere or to itself.
    mutating func resolved(_ value: ConfigValue) throws -> ConfigValue {
        count += 1
        depth += 1
        defer { depth -= 1 }
        guard count < Self.maxValues, depth < 2 * ManifestText.maxDepth else {
            throw ManifestFault("the manifest's references are nested too deeply, or too many")
        }
        switch value {
        case .array(let elements): return .array(try elements.map { try resolved($0) })
        case .object(let members):
            var own: [(key: String, value: ConfigValue)] = []
            for member in members where member.key != "$ref" {
                own.append((member.key, try resolved(member.value)))
            }
            guard let reference = value["$ref"] else { return .object(own) }
            let target = try resolved(reference)
            guard var result = target.members else { return target }
            for member in own {
                if let index = result.firstIndex(where: { $0.key == member.key }) {
                    result[index].value = member.value
                } else {
                    result.append(member)
                }
            }
            return .object(result)
        case .string(let text) where text.hasPrefix("#/"):
            guard open.insert(text).inserted else { throw ManifestFault("\(text) refers to itself") }
            defer { open.remove(text) }
            guard let target = find(text.dropFirst(2)) else {
                throw ManifestFault("\(text) refers to something that is not in the manifest")
            }
            return try resolved(target)
        default: return value
        }
    }

    /// A name may contain slashes, so the longest name is tried first.
    private func find(_ path: Substring) -> ConfigValue? {
        var node = manifest
        var rest = path
        while !rest.isEmpty {
            if let found = node[String(rest)] { return found }
            let head = String(rest.prefix { $0 != "/" })
            rest = rest.dropFirst(head.count + 1)
            guard let next = node.at([head]) else { return nil }
            node = next
        }
        return node
    }
}
