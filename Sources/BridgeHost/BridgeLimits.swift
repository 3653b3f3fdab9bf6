/// How much and how long the host lets a bridge.
public struct BridgeLimits: Sendable {
    /// The largest batch of records, in bytes.
    public var batchSize = 256 << 20
    /// The largest page, error or description, in bytes.
    public var pageSize = 4 << 20
    /// How long an inspection may take, from the start of the process to the bridge's description.
    public var inspection: Duration = .seconds(30)
    /// How long one call may take, above all ``RecordStream/next()``.
    public var call: Duration = .seconds(300)
    /// How long a bridge has to react to `cancel` before it is killed or abandoned.
    public var cancellationGrace: Duration = .milliseconds(300)
    /// How many child processes one connection may use when its bridge serves one fetch at a time.
    public var workers = 4
    /// How much memory a child process may have for its data, in bytes; nil leaves it to the system.
    public var memory: Int?
    /// How many further processes may work on what a bridge's processes leave to them.
    public var helpers = 4
    /// How many bytes of what a child prints reach the log.
    public var standardError = 64 << 10
    /// Whether a bridge may print to standard output: then that is only logged, else it is an error.
    public var allowsPrinting = false
    /// When a failed fetch is tried again.
    public var retries = RetryPolicy()

    /// The defaults.
    public init() {}
}
