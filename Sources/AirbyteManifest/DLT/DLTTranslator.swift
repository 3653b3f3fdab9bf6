internal import Model
internal import TextFormats

/// Translates the resources of a dlt configuration, parents first.
final class DLTTranslator {
    private(set) var drafts: [EntityDraft] = []
    /// The resources that could not become an entity at all.
    private(set) var lost: [(name: String, reason: String)] = []
    private let resources: [ConfigValue]
    private let defaults: ConfigValue
    private let client: ConfigValue
    private let bridges: DLTBridges
    private var tables = LocalNames()
    private var done: [String: EntityDraft] = [:]
    /// The resources being translated, whose parents cannot be among them.
    private var open: Set<String> = []

    init(resources: [ConfigValue], defaults: ConfigValue, client: ConfigValue, bridges: DLTBridges) {
        self.resources = resources
        self.defaults = defaults
        self.client = client
        self.bridges = bridges
    }

    func run() {
        for (index, resource) in resources.enumerated() {
            guard let name = Self.name(of: resource) else {
                lost.append(("resource \(index + 1)", "it has no name"))
                continue
            }
            guard !name.hasPrefix("<"), !name.contains("object at 0x") else {
                lost.append((name, "it is a resource written in Python"))
                continue
            }
            _ = draft(named: name)
        }
    }

    private static func name(of resource: ConfigValue) -> String? { resource.string ?? resource["name"]?.string }

    /// Returns the translation of a resource; nil if there is none of that name, or it is its own ancestor.
    private func draft(named name: String) -> EntityDraft? {
        if let draft = done[name] { return draft }
        guard let given = resources.first(where: { Self.name(of: $0) == name }), open.insert(name).inserted else {
            return nil
        }
        defer { open.remove(name) }
        let resource = merged(given, name)
        let draft = EntityDraft(stream: name)
        draft.name = tables.claim(name)
        DLTResource(draft: draft, resource: resource, client: client, bridges: bridges) { self.draft(named: $0) }
            .apply()
        done[name] = draft
        drafts.append(draft)
        return draft
    }

    /// Merges a resource with the defaults as dlt does: params and json member by member, all else as a whole.
    private func merged(_ given: ConfigValue, _ name: String) -> ConfigValue {
        var resource = given.members == nil ? ConfigValue.object([("name", .string(name))]) : given
        var endpoint = resource["endpoint"] ?? .object([])
        if let path = endpoint.string { endpoint = .object([("path", .string(path))]) }
        if endpoint["path"] == nil { endpoint = endpoint.setting("path", .string(name)) }
        var whole = defaults["endpoint"] ?? .object([])
        for (key, value) in endpoint.members ?? [] {
            guard ["params", "json"].contains(key), var both = whole[key], both.members != nil else {
                whole = whole.setting(key, value)
                continue
            }
            for (name, value) in value.members ?? [] { both = both.setting(name, value) }
            whole = whole.setting(key, both)
        }
        var merged = defaults
        for (key, value) in resource.members ?? [] { merged = merged.setting(key, value) }
        resource = merged.setting("endpoint", whole)
        return resource
    }
}
