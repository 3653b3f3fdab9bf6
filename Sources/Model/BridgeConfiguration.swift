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
    /// How webhooks of the remote are verified; nil if it may send none.
    public var hook: HookConfiguration?
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
        memory: Int? = nil, retryFor: Duration? = nil, hook: HookConfiguration? = nil,
        location: SourceLocation = .unknown
    ) {
        self.hook = hook
        self.retryFor = retryFor
        self.name = name
        self.plugin = plugin
        self.options = options
        self.isolation = isolation
        self.memory = memory
        self.location = location
    }
}
