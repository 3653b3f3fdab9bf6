/// A configuration file, read and found valid.
public struct Configuration: Sendable, Equatable {
    /// The file's path as the caller gave it.
    public var file: String
    /// The version of the file's format.
    public var version: Int
    /// The database's absolute path.
    public var databasePath: String
    /// The bridges, in the order of the file.
    public var bridges: [BridgeConfiguration]
    /// The entities.
    public var model: Model
    /// How long runs and what they changed are kept.
    public var history: HistoryRetention
    /// What does not keep the file from being used, such as a secret whose variable is not set.
    public var warnings: [Diagnostic]

    /// A configuration; nothing is checked.
    public init(
        file: String, version: Int = 1, databasePath: String, bridges: [BridgeConfiguration], model: Model,
        history: HistoryRetention = .usual, warnings: [Diagnostic] = []
    ) {
        self.file = file
        self.version = version
        self.databasePath = databasePath
        self.bridges = bridges
        self.model = model
        self.history = history
        self.warnings = warnings
    }

    /// The bridge called `name`.
    public func bridge(named name: String) -> BridgeConfiguration? {
        bridges.first { $0.name == name }
    }

    /// The absolute path of the folder that the file is in: relative paths of secrets start there.
    public var directory: String { FilePath.directory(of: file) }
}

/// A plugin with options, under a name of the configuration's own.
public struct BridgeConfiguration: Sendable, Equatable {
    /// The name by which entities refer to it.
    public var name: String
    /// The plugin's name.
    public var plugin: String
    /// The plugin's options: always an object, maybe an empty one; secrets are still references.
    public var options: ConfigValue
    /// Where the bridge runs; nil leaves it to the host.
    public var isolation: Isolation?
    /// How much memory a process of the bridge may have for its data, in bytes; nil leaves it to the system.
    public var memory: Int?
    /// Where the file declares the bridge.
    public var location: SourceLocation

    /// Where a bridge runs.
    public enum Isolation: String, Sendable, CaseIterable {
        /// In a process of its own: what it does wrong ends in an error for its entities.
        case process
        /// In the program's own process.
        case inProcess = "in_process"
        /// A program that speaks the Singer protocol, started by the bridge `singer`.
        case external
    }

    /// A bridge; nothing is checked.
    public init(
        name: String, plugin: String, options: ConfigValue = .object([]), isolation: Isolation? = nil,
        memory: Int? = nil, location: SourceLocation = .unknown
    ) {
        self.name = name
        self.plugin = plugin
        self.options = options
        self.isolation = isolation
        self.memory = memory
        self.location = location
    }
}

/// What a plugin says of its part of a configuration, in JSON Schema, draft 2020-12.
///
/// Checked: `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `minimum`, `maximum`,
/// `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`, `minItems`, `maxItems`, `oneOf`, `anyOf`, `$ref` to
/// `#/$defs/NAME`, and `writeOnly: true`, which marks a secret. Other keywords (`pattern`, `format`, `allOf`, ...) are
/// taken for annotations here, though editors know them: what they demand, the plugin checks itself. A schema has at
/// most 1 MiB and 64 levels; one that is faulty or has no end is reported as the plugin's fault.
public struct PluginSchema: Sendable, Equatable {
    /// The plugin's name: what `plugin:` says, and the name of its section in an entity.
    public var name: String
    /// The JSON text of the schema of a bridge's `options:`.
    public var optionsSchema: String
    /// The JSON text of the schema of an entity's section.
    public var entitySchema: String

    /// The schemas of the plugin `name`; an empty text stands for a schema that allows everything.
    public init(name: String, optionsSchema: String, entitySchema: String) {
        self.name = name
        self.optionsSchema = optionsSchema
        self.entitySchema = entitySchema
    }
}
