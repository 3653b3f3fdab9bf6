extension ConfigurationSchema {
    /// A plugin's schemas, rewritten for embedding under the `$defs` of the file's schema.
    struct PluginPart {
        let name: String
        let options: ConfigValue
        let entity: ConfigValue
        /// Whether any option is required, so that `options:` is too.
        let needsOptions: Bool

        var optionsName: String { "\(name).options" }
        var entityName: String { "\(name).entity" }

        init(_ plugin: PluginSchema) {
            name = plugin.name
            let options = Self.parsed(plugin.optionsSchema)
            needsOptions = !(options["required"]?.array ?? []).isEmpty
            self.options = Self.embedded(options, at: "\(plugin.name).options", takesSecrets: true)
            entity = Self.embedded(Self.parsed(plugin.entitySchema), at: "\(plugin.name).entity", takesSecrets: false)
        }

        private static func parsed(_ text: String) -> ConfigValue {
            guard !text.isEmpty, (try? SchemaDocument(text: text)) != nil, let value = try? ConfigValue(json: text)
            else {
                return true
            }
            return value
        }

        /// Keywords whose value is a schema; below, a list of schemas, and schemas by name.
        private static let single: Set<String> = [
            "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
            "unevaluatedProperties", "unevaluatedItems",
        ]
        private static let lists: Set<String> = ["oneOf", "anyOf", "allOf", "prefixItems"]
        private static let named: Set<String> = ["properties", "patternProperties", "$defs", "dependentSchemas"]
        /// Keywords that would give the embedded schema its own base for resolving $ref.
        private static let identity: Set<String> = ["$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary"]

        /// Returns the schema with references rewritten to `#/$defs/NAME`, and with `{env: NAME}` allowed where a text
        /// may be a secret.
        private static func embedded(_ schema: ConfigValue, at name: String, takesSecrets: Bool) -> ConfigValue {
            guard let members = schema.members else { return schema }
            let takesSecrets = takesSecrets || schema["x-secrets"]?.bool == true
            if schema["writeOnly"]?.bool == true {
                let kept = members.filter { ["description", "title", "writeOnly"].contains($0.key) }
                return .object(kept + [("anyOf", [["$ref": "#/$defs/secret"], ["const": ""]])])
            }
            func inner(_ value: ConfigValue) -> ConfigValue { embedded(value, at: name, takesSecrets: takesSecrets) }
            let rewritten = members.filter { !identity.contains($0.key) }.map {
                key, value -> (key: String, value: ConfigValue) in
                if single.contains(key) { return (key, inner(value)) }
                if lists.contains(key) { return (key, .array((value.array ?? []).map(inner))) }
                if named.contains(key) {
                    return (key, .object((value.members ?? []).map { ($0.key, inner($0.value)) }))
                }
                if key == "$ref", let reference = value.string, reference.hasPrefix("#/") {
                    return (key, .string("#/$defs/\(name)/" + reference.dropFirst(2)))
                }
                return (key, value)
            }
            let kinds = schema["type"].map { $0.array ?? [$0] } ?? []
            guard takesSecrets, kinds.contains("string") else { return .object(rewritten) }
            let annotations = ["description", "title", "default", "examples", "deprecated"]
            return .object(
                rewritten.filter { annotations.contains($0.key) } + [
                    (
                        "anyOf",
                        [
                            .object(rewritten.filter { !annotations.contains($0.key) }), ["$ref": "#/$defs/secret"],
                        ]
                    )
                ])
        }
    }
}
