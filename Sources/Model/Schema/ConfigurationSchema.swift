/// The JSON Schema (draft 2020-12) of the configuration file, for editors.
///
/// It covers the structure, and the options and sections of each plugin. References between names are beyond it;
/// ``ConfigurationFile`` checks them. It is stricter in one respect: a text that looks like a number needs quotes.
public enum ConfigurationSchema {
    /// Returns the schema of a file whose bridges use `plugins`.
    ///
    /// A plugin with an invalid schema accepts anything.
    public static func json(plugins: [PluginSchema]) -> String {
        let parts = plugins.sorted { $0.name < $1.name }.map { PluginPart($0) }
        var definitions: [(key: String, value: ConfigValue)] = [
            ("secret", Definitions.secret), ("bridge", bridge(parts)), ("entity", entity(parts)),
            ("whole", wholeEntity), ("defaults", defaults), ("attribute", AttributeKeys.schema),
            ("relationship", RelationshipKeys.shape.schema), ("type", Definitions.type),
            ("transformer", TransformerName.schema), ("name", Definitions.name), ("matcher", ConditionKeys.schema),
            ("parent", ParentKeys.schema), ("absent", Definitions.absent), ("incremental", IncrementalKeys.schema),
            ("span", Definitions.span), ("source", source(parts)),
        ]
        for part in parts {
            definitions.append((part.optionsName, part.options))
            definitions.append((part.entityName, part.entity))
        }
        var schema = FileKeys.shape.schema.members ?? []
        // The defaults may provide an entity's required keys.
        schema.append(
            (
                "allOf",
                [
                    [
                        "if": ["not": ["required": [.string(FileKeys.defaults.name)]]],
                        "then": [
                            "properties": [
                                FileKeys.entities.name: ["additionalProperties": ["$ref": "#/$defs/whole"]]
                            ]
                        ],
                    ]
                ]
            ))
        let head: [(key: String, value: ConfigValue)] = [
            ("$schema", "https://json-schema.org/draft/2020-12/schema"), ("title", "bmo configuration"),
        ]
        let whole = ConfigValue.object(head + schema + [("$defs", .object(definitions))])
        return describing(whole, by: whole).json + "\n"
    }

    /// Copies the descriptions of referenced schemas next to the references, where editors show them.
    private static func describing(_ value: ConfigValue, by whole: ConfigValue) -> ConfigValue {
        switch value {
        case .array(let elements): return .array(elements.map { describing($0, by: whole) })
        case .object(let members):
            return .object(
                members.map { key, value in
                    let value = describing(value, by: whole)
                    guard key == "properties", let properties = value.members else { return (key, value) }
                    let described = properties.map { name, property -> (key: String, value: ConfigValue) in
                        guard property["description"] == nil, let reference = property["$ref"]?.string,
                            let text = target(of: reference, in: whole)?["description"]
                        else { return (name, property) }
                        return (name, .object([("description", text)] + (property.members ?? [])))
                    }
                    return (key, .object(described))
                })
        default: return value
        }
    }

    /// Returns the schema at `#/$defs/NAME/...`.
    private static func target(of reference: String, in whole: ConfigValue) -> ConfigValue? {
        reference.dropFirst(2).split(separator: "/").reduce(whole) { value, name in value?[String(name)] }
    }

    private static func bridge(_ parts: [PluginPart]) -> ConfigValue {
        let plugin: ConfigValue = [
            "description": "A plugin, as \"bmo plugins\" lists it", "enum": .array(parts.map { .string($0.name) }),
        ]
        // An external program: its options are siblings of `isolation: external`.
        let external =
            parts.contains { $0.name == BridgeKeys.externalPlugin }
            ? BridgeKeys.external.keys.filter { BridgeKeys.externalOptions.contains($0.name) } : []
        let shape = parts.isEmpty ? BridgeKeys.shape : BridgeKeys.shape.describing(Key<String>("plugin", plugin))
        let sections = parts.map { part in
            let text = "Defaults of the section \(part.name) of this bridge's entities, if its plugin is \(part.name)"
            return (part.name, ["description": .string(text), "type": ["object", "null"]] as ConfigValue)
        }
        let base = shape.schema(closed: true, more: external.map { ($0.name, $0.schema) } + sections)
        let kinds: ConfigValue = [
            ["required": ["plugin"]],
            ["properties": ["isolation": ["const": "external"]], "required": ["isolation", "command"]],
        ]
        let conditions: [ConfigValue] = parts.map { part in
            let then: ConfigValue = [
                "properties": [
                    "options": [
                        "description": .string("The options of \(part.name)"),
                        "$ref": .string("#/$defs/\(part.optionsName)"),
                    ]
                ],
                "required": part.needsOptions ? ["options"] : [],
            ]
            return [
                "if": ["properties": ["plugin": ["const": .string(part.name)]], "required": ["plugin"]], "then": then,
            ]
        }
        return .object(
            (base.members ?? []) + [("anyOf", kinds)] + (parts.isEmpty ? [] : [("allOf", .array(conditions))]))
    }
}
