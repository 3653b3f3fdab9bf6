/// Limits on a bridge's memory, output and time.
public struct BridgeLimits: Sendable {
    /// The largest batch of records, in bytes.
    public var batchSize = 256 << 20
    /// The largest page, error or description, in bytes.
    public var pageSize = 4 << 20
    /// How long an inspection may take, from the start of the process to the arrival of the bridge's description.
    public var inspection: Duration = .seconds(30)
    /// How long one call may take, above all ``RecordStream/next()``.
    public var call: Duration = .seconds(300)
    /// How long work that a bridge's process delegates may take, including the wait for a helper process; at most a
    /// fifth of ``call``.
    ///
    /// The delegating call waits for it, and then has time to do the work itself.
    public var delegatedWork: Duration = .seconds(60)
    /// How long a bridge may take to react to `cancel` before it is killed or abandoned.
    public var cancellationGrace: Duration = .milliseconds(300)
    /// How many child processes one connection may use when its bridge serves one fetch at a time.
    public var workers = 4
    /// The memory limit for a child process's data, in bytes; nil leaves it to the system.
    public var memory: Int?
    /// How many more processes may do the work that a bridge's processes delegate.
    public var helpers = 4
    /// How many bytes of a child's printed output reach the log.
    public var standardError = 64 << 10
    /// Whether a bridge may print to standard output: if so, the output is logged; if not, it is an error.
    public var allowsPrinting = false
    /// When a failed fetch is retried.
    public var retries = RetryPolicy()

    /// The defaults.
    public init() {}
}
