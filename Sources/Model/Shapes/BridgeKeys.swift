/// A bridge.
enum BridgeKeys {
    static let plugin = Key<String>("plugin", ["type": "string"])
    static let options = Key<Part>(
        "options", ["description": "The plugin's own options", "type": ["object", "null"]])
    static let isolation = Key<String>(
        "isolation",
        [
            "description":
                "Where it runs; default: process, except for plugins that come with bmo; child_process means process",
            "enum": .array(BridgeConfiguration.Isolation.names.map { .string($0) }),
        ])
    static let memory = Key<String>(
        "memory",
        [
            "description": "How much memory its process may have, such as 512 MiB", "type": "string",
            "pattern": "^[0-9]+ ?(MiB|GiB)$",
        ])
    static let absent = Key<AbsentRule>.absent
    static let retryFor = Key<Duration>.span("retry_for")

    static let hook = Key<Part>("hook", HookKeys.shape.schema)

    private static let always: [any DescribedKey] = [isolation, memory, absent, retryFor, hook]

    /// A bridge with a plugin.
    static let shape = Shape("An API: a plugin with options", [plugin, options] + always)

    /// A bridge with `isolation: external`: the options of ``externalPlugin`` are keys of the bridge, in place of
    /// `plugin` and `options`.
    static let external = Shape(
        nil, externalOptions.map { Key<Part>.defined($0, by: "\(externalPlugin).options/properties/\($0)") } + always)

    /// The plugin that starts programs that speak the Singer protocol.
    static let externalPlugin = "singer"
    /// The options of ``externalPlugin``.
    static let externalOptions = [
        "command", "tap_config", "catalog", "catalog_flag", "files", "environment", "folder", "silence", "longest_line",
    ]
}

/// The mapping `hook` of a bridge.
enum HookKeys {
    static let secret = Key<Part>(
        "secret", ["$ref": "#/$defs/secret"], missing: "add \"secret:\" with {env: NAME} or {file: PATH}")
    static let signature = field(
        "signature", "The header field with the HMAC-SHA256 of the body", usual: HookConfiguration.usualSignature)
    static let timestamp = field(
        "timestamp", "The header field with the time; the signature is then that of TIME.BODY, and is accepted once")
    static let key = Key<RemotePath>(
        "key",
        [
            "description": "A dot path to the changed object's key in the body", "type": "string", "minLength": 1,
            "default": .string(HookConfiguration.usualKey.description),
        ])

    /// The form of a header field's name; RFC 9110 allows more.
    static let fieldPattern = "^[A-Za-z][A-Za-z0-9-]*$"

    static let shape = Shape(
        "How webhooks of the remote are verified: POST /hooks/ENTITY has a watch sync at once",
        [secret, signature, timestamp, key])

    private static func field(_ name: String, _ description: String, usual: String? = nil) -> Key<String> {
        let schema: [(key: String, value: ConfigValue)] = [
            ("description", .string(description)), ("type", "string"), ("pattern", .string(fieldPattern)),
        ]
        return Key(name, .object(schema + (usual.map { [("default", .string($0))] } ?? [])))
    }
}
