/// What a bridge is and can do: the answer to the host's `describe`.
public struct BridgeDescriptor: Sendable {
    /// What a config calls the plugin: `[a-z][a-z0-9_-]{0,31}`.
    public var name: String
    /// The bridge's own version, for people.
    public var version: String
    /// One sentence on what the bridge talks to.
    public var summary: String
    /// JSON Schema of the config's `options:`; a secret is a property with `"writeOnly": true`.
    public var optionsSchema: String
    /// JSON Schema of an entity's own section.
    public var entitySchema: String
    /// Where the host should run it.
    public var isolation: Isolation
    /// Whether one instance may serve several fetches at a time, from several threads.
    public var isConcurrent: Bool
    /// What it can do.
    public var capabilities: Set<Capability>

    /// Where a bridge runs.
    public enum Isolation: String, Sendable {
        /// In the host's process.
        case inProcess = "in_process"
        /// In a child process of its own, which a crash or a deadline may end.
        case childProcess = "child_process"
    }

    /// Something that a bridge may be able to do.
    public enum Capability: String, Sendable, CaseIterable {
        case check, discover, fetch, create, update, delete
        /// A fetch can start from a cursor that an earlier page gave.
        case resume
        /// A fetch can bring only what moved since an earlier one: by a token of its own or by `since`.
        case incremental
        /// A fetch can ask for the children of one object.
        case parent
        /// A fetch can have the remote apply conditions.
        case filter
        /// A fetch can tell what it would request.
        case plan
        /// A fetch can wait for a change.
        case watch
        /// All it asks its remote can be recorded and replayed: see ``BridgeContext/exchange``.
        case replay
        /// A fetch can tell what is wrong with an entity's section, without any contact.
        case judge
    }

    /// Describes a bridge.
    public init(
        name: String, version: String, summary: String, optionsSchema: String, entitySchema: String,
        isolation: Isolation = .inProcess, isConcurrent: Bool = false, capabilities: Set<Capability>
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.optionsSchema = optionsSchema
        self.entitySchema = entitySchema
        self.isolation = isolation
        self.isConcurrent = isConcurrent
        self.capabilities = capabilities
    }
}
