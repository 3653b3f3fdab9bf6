/// The keys of one mapping in the configuration, written once.
///
/// The published JSON Schema, the lists of valid keys in messages, and the readers all use it.
struct Shape: Sendable {
    let description: String?
    let keys: [any DescribedKey]
    /// Further keywords of the JSON Schema, for rules between keys.
    let rules: [(key: String, value: ConfigValue)]

    init(
        _ description: String? = nil, _ keys: [any DescribedKey], rules: [(key: String, value: ConfigValue)] = []
    ) {
        self.description = description
        self.keys = keys
        self.rules = rules
    }

    /// The valid keys.
    var names: [String] { keys.map(\.name) }

    /// Returns the shape with another description of one of its keys.
    func describing(_ key: any DescribedKey) -> Shape {
        Shape(description, keys.map { $0.name == key.name ? key : $0 }, rules: rules)
    }

    /// The JSON Schema of the mapping.
    var schema: ConfigValue { schema(closed: true) }

    /// Returns the JSON Schema of the mapping, extended by a plugin's keys.
    ///
    /// - Parameter closed: Whether all other keys are invalid.
    func schema(
        closed: Bool, more properties: [(key: String, value: ConfigValue)] = []
    ) -> ConfigValue {
        var members: [(key: String, value: ConfigValue)] = []
        if let description { members.append(("description", .string(description))) }
        members += [("type", "object"), ("properties", .object(keys.map { ($0.name, $0.schema) } + properties))]
        let required = keys.filter { $0.remedy != nil }.map { ConfigValue.string($0.name) }
        if !required.isEmpty { members.append(("required", .array(required))) }
        if closed { members.append(("additionalProperties", false)) }
        return .object(members + rules)
    }
}
