/// A bridge's name, schemas and capabilities: the reply to the host's `describe`.
public struct BridgeDescriptor: Sendable {
    /// The plugin's name in a configuration: `[a-z][a-z0-9_-]{0,31}`.
    public var name: String
    /// The bridge's own version, for people.
    public var version: String
    /// One sentence about the systems that the bridge connects to.
    public var summary: String
    /// JSON Schema of the configuration's `options:`; a secret is a property with `"writeOnly": true`.
    public var optionsSchema: String
    /// JSON Schema of an entity's own section.
    public var entitySchema: String
    /// Where the host should run the bridge.
    public var isolation: Isolation
    /// Whether one instance may serve several fetches at the same time, from several threads.
    public var isConcurrent: Bool
    /// The optional operations that the bridge supports.
    public var capabilities: Set<Capability>

    /// Where a bridge runs.
    public enum Isolation: String, Sendable {
        /// In the host's process.
        case inProcess = "in_process"
        /// In a child process of its own, which may end by a crash or a deadline.
        case childProcess = "child_process"
    }

    /// An optional operation of a bridge.
    public enum Capability: String, Sendable, CaseIterable {
        /// The remote can be tried without reading records.
        case check
        /// The bridge can list the entities that the remote offers.
        case discover
        /// Records can be read.
        case fetch
        /// New objects can be sent.
        case create
        /// Changes of objects can be sent.
        case update
        /// Objects can be deleted.
        case delete
        /// A fetch can start from the cursor of an earlier page.
        case resume
        /// A fetch can return only what changed since an earlier one: by a token of its own or by `since`.
        case incremental
        /// A fetch can request the children of one object.
        case parent
        /// A fetch can have the remote apply conditions.
        case filter
        /// A fetch can describe the requests that it would make.
        case plan
        /// A fetch can wait for a change.
        case watch
        /// All requests to the remote can be recorded and replayed: see ``BridgeContext/exchange``.
        case replay
        /// A fetch can report the faults of an entity's section without contacting the remote.
        case validate = "judge"
        /// A write can describe the request that it would send.
        case planWrite = "plan_write"
        /// A fetch returns the records of one listing, in the remote's order, so that the host may end it at what it
        /// knows: see `FetchRequest.newestFirst`.
        case newestFirst = "newest_first"
        /// A fetch and a write receive what the embedding program says about its request: see `FetchRequest.userInfo`.
        case userInfo = "user_info"
        /// A fetch can add parameters to the remote's requests: see `FetchRequest.parameters`.
        case parameters
        /// What an update answers is always the object, also if the update has given it another key.
        ///
        /// Without it, an answer with another key is taken for something else, such as a log entry.
        case moves
    }

    /// Creates a descriptor.
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
