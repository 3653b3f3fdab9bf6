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

    private static let always: [any DescribedKey] = [isolation, memory, absent, retryFor]

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
