/// A validated configuration file.
public struct Configuration: Sendable, Equatable {
    /// The file's path as the caller gave it.
    public var file: String
    /// The version of the file format.
    public var version: Int
    /// The absolute path of the database.
    public var databasePath: String
    /// The bridges, in the order of the file.
    public var bridges: [BridgeConfiguration]
    /// The entities.
    public var model: Model
    /// How long runs and their change log are kept.
    public var history: HistoryRetention
    /// Faults that do not prevent using the file, such as a secret whose variable is not set.
    public var warnings: [Diagnostic]

    /// Creates a configuration without validation.
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

    /// Returns the bridge with this name.
    public func bridge(named name: String) -> BridgeConfiguration? {
        bridges.first { $0.name == name }
    }

    /// The absolute path of the file's folder.
    ///
    /// Relative paths of secrets start there.
    public var directory: String { FilePath.directory(of: file) }
}

/// A plugin and its options, under a name that the configuration chooses.
public struct BridgeConfiguration: Sendable, Equatable {
    /// The name by which entities refer to it.
    public var name: String
    /// The plugin's name.
    public var plugin: String
    /// The plugin's options: always an object, possibly empty, with secrets as references.
    public var options: ConfigValue
    /// Where the bridge runs; nil uses the host's default.
    public var isolation: Isolation?
    /// The memory limit of the bridge's process, in bytes; nil uses the system's limit.
    public var memory: Int?
    /// The default meaning of a missing member for the bridge's entities; nil for `auto`.
    public var absent: AbsentRule?
    /// The time limit for all attempts of a request together; nil uses the host's default.
    public var retryFor: Duration?
    /// Where the file declares the bridge.
    public var location: SourceLocation

    /// Where a bridge runs.
    public enum Isolation: String, Sendable, CaseIterable {
        /// In a child process: a crash of the bridge is an error of its entities only.
        case process
        /// In the program's own process.
        case inProcess = "in_process"
        /// A program that speaks the Singer protocol, started by the bridge `singer`.
        case external

        /// The name of ``process`` in the plugin contract.
        static let processSynonym = "child_process"

        /// The names that a configuration may use.
        static let names = allCases.map(\.rawValue) + [processSynonym]

        /// Creates an isolation from its name in a configuration; nil if it is not one of ``names``.
        init?(configured name: String) {
            self.init(rawValue: name == Self.processSynonym ? Self.process.rawValue : name)
        }
    }

    /// Creates a bridge without validation.
    public init(
        name: String, plugin: String, options: ConfigValue = .object([]), isolation: Isolation? = nil,
        memory: Int? = nil, retryFor: Duration? = nil, location: SourceLocation = .unknown
    ) {
        self.retryFor = retryFor
        self.name = name
        self.plugin = plugin
        self.options = options
        self.isolation = isolation
        self.memory = memory
        self.location = location
    }
}

/// A plugin's JSON Schemas (draft 2020-12) for its part of a configuration.
///
/// Checked keywords: `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `minimum`,
/// `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`, `minItems`, `maxItems`, `oneOf`,
/// `anyOf`, `$ref` to `#/$defs/NAME`, and `writeOnly: true`, which marks a secret. A text with `"format": "path"` is
/// resolved against the configuration's folder. Other keywords (`pattern`, `allOf`, ...) are treated as annotations
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
