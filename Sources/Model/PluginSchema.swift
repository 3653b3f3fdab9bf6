/// A plugin's JSON Schemas (draft 2020-12) for its part of a configuration.
///
/// Checked keywords: `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `minimum`,
/// `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`, `minItems`, `maxItems`, `oneOf`,
/// `anyOf`, `$ref` to `#/$defs/NAME`, `writeOnly: true`, which marks a secret, and `x-secrets: true`, which lets each
/// text in a value be `{env: NAME}` or `{file: PATH}`: in a section, where no other text may be one. A text with
/// `"format": "path"` is resolved against the configuration's folder. Other keywords (`pattern`, `allOf`, ...) are treated as annotations
/// here, although editors support them; the plugin validates them itself. A schema has at most 1 MiB and 64 levels. An
/// invalid or endlessly recursive schema is reported as the plugin's fault.
public struct PluginSchema: Sendable, Equatable {
    /// The plugin's name: the value of `plugin:`, and the name of its section in an entity.
    public var name: String
    /// The schema of a bridge's `options:`, as JSON text.
    public var optionsSchema: String
    /// The schema of an entity's section, as JSON text.
    public var entitySchema: String

    /// Creates the schemas of the plugin `name`; an empty text allows everything.
    public init(name: String, optionsSchema: String, entitySchema: String) {
        self.name = name
        self.optionsSchema = optionsSchema
        self.entitySchema = entitySchema
    }
}
