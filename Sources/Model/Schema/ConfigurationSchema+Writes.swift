extension ConfigurationSchema {
    /// Returns the keys of an entity that describe how its objects are sent to the remote.
    static func writeProperties(_ parts: [PluginPart]) -> [(key: String, value: ConfigValue)] {
        let sections: [ConfigValue] = parts.map { ["$ref": .string("#/$defs/\($0.entityName)")] }
        let one: [(key: String, value: ConfigValue)] = [
            ("description", "The bridge's section for reading one object, whose values are {parent.NAME}"),
            ("type", "object"),
        ]
        return [
            ("writable", ["description": "Whether objects may be created, updated and deleted", "type": "boolean"]),
            (
                "match",
                attributeNames(
                    "The attributes and relationships to one by which an object is found whose creation got no answer")
            ),
            (
                "idempotency",
                [
                    "description": "Whether the remote does once what is sent twice with one idempotency key",
                    "type": "boolean", "default": false,
                ]
            ),
            ("read_one", .object(one + (sections.isEmpty ? [] : [("anyOf", .array(sections))]))),
        ]
    }

    /// Returns the schema of `write` of an attribute or a relationship.
    static func writeRule(_ forms: [WriteRule.Form]) -> ConfigValue {
        [
            "description": "Whether and how it goes back to the remote",
            "anyOf": [
                ["type": "boolean"], ["const": "create_only"],
                object(
                    nil,
                    [
                        ("when", ["description": "In a new object only", "const": "create_only"]),
                        (
                            "to",
                            [
                                "description": "A dot path; default: where it comes from", "type": "string",
                                "minLength": 1,
                            ]
                        ),
                        (
                            "as",
                            [
                                "description": "What it is sent as",
                                "enum": .array(forms.map { .string($0.rawValue) }),
                            ]
                        ),
                    ], required: []),
            ],
        ]
    }
}
