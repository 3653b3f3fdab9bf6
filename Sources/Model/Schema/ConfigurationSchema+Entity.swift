extension ConfigurationSchema {
    static func entity(_ parts: [PluginPart]) -> ConfigValue {
        var shape = EntityKeys.shape
        if !parts.isEmpty {
            let sections = parts.map { ConfigValue.object([("$ref", .string("#/$defs/\($0.entityName)"))]) }
            let one = EntityKeys.readOne
            shape = shape.describing(
                Key<Part>(one.name, .object((one.schema.members ?? []) + [("anyOf", .array(sections))])))
        }
        let base = shape.schema(closed: !parts.isEmpty, more: parts.map { ($0.name, section(of: $0)) })
        let isSubentity: ConfigValue = [
            "required": ["extends"],
            "properties": .object(EntityKeys.ofRoots.map { ($0.key.name, false) }),
            "dependentRequired": [
                "parent": ["bridge"], "incremental": ["bridge"],
            ],
        ]
        let withoutListing: ConfigValue = [
            "properties": .object((EntityKeys.ofListings + ScanKeys.all).map { ($0.name, false) })
        ]
        let conditions: [ConfigValue] =
            [
                [
                    "if": ["required": ["extends"]], "then": isSubentity,
                    "else": ["properties": ["extends": false, "when": false]],
                ],
                [
                    "if": ["required": ["full_every"]],
                    "then": ["anyOf": [["required": ["incremental"]], scansChanged("parent")]],
                ],
                ["if": ["required": ["listing"]], "then": withoutListing],
            ] + onePlugin(parts)
        return .object((base.members ?? []) + [("allOf", .array(conditions))])
    }

    /// Requires `changed: true` in `parent` or `each`.
    private static func scansChanged(_ name: String) -> ConfigValue {
        let parent: ConfigValue = [
            "type": "object", "properties": ["changed": ["const": true]], "required": ["changed"],
        ]
        return ["properties": .object([(name, parent)]), "required": .array([.string(name)])]
    }

    private static func section(of part: PluginPart) -> ConfigValue {
        [
            "description": .string("What a bridge with the plugin \(part.name) fetches"),
            "$ref": .string("#/$defs/\(part.entityName)"),
        ]
    }

    /// The requirements of a root entity in a file without defaults.
    static let wholeEntity: ConfigValue = [
        "if": ["not": ["required": ["extends"]]],
        "then": [
            "anyOf": [["required": ["bridge"]], ["required": ["listing"]]],
            "if": ["required": ["extra"], "properties": ["extra": ["const": true]]],
            "else": [
                "required": ["attributes"],
                "properties": [
                    "attributes": [
                        "anyOf": [["const": .string(LearnedAttributes.word)], ["type": "object", "minProperties": 1]]
                    ]
                ],
            ],
            "oneOf": [["required": ["key"]], ["required": ["unique"]]],
        ],
    ]

    /// The schema of `defaults`, which apply to every entity that does not set them.
    static let defaults: ConfigValue = [
        "description": "Defaults of all entities; sections are merged member by member",
        "type": ["object", "null"],
        "propertyNames": ["not": ["enum": .array(EntityKeys.withoutDefault.map { .string($0.name) })]],
    ]

    static func source(_ parts: [PluginPart]) -> ConfigValue {
        let base = SourceKeys.shape.schema(
            closed: !parts.isEmpty, more: parts.map { ($0.name, section(of: $0)) })
        return .object(
            (base.members ?? []) + [("allOf", .array([["not": ["required": ["parent", "each"]]]] + onePlugin(parts)))])
    }

    /// Excludes several sections in one entity, which has only one bridge.
    private static func onePlugin(_ parts: [PluginPart]) -> [ConfigValue] {
        var pairs: [ConfigValue] = []
        for (index, first) in parts.enumerated() {
            for second in parts[(index + 1)...] {
                pairs.append(["not": ["required": [.string(first.name), .string(second.name)]]])
            }
        }
        return pairs
    }
}
