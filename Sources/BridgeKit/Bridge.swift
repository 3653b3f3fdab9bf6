/// BridgeKit: the only module that a bridge author imports.
///
/// A bridge is a class that conforms to ``Bridge``, plus two exported C functions:
///
/// ```swift
/// private let export = BridgeExport(AcmeBridge.self)
///
/// @c(bmo_bridge_info_v1)
/// public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }
///
/// @c(bmo_bridge_entry_v1)
/// public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
///     export.table(major: major, minor: minor)
/// }
/// ```
///
/// The kit is a static library: each plugin has its own copy, and no Swift type crosses the plugin boundary.

public import BridgeContract
public import BridgeRecording
public import RecordBatch

/// A client for one kind of API: configured once, then asked for records.
///
/// The host makes one instance per bridge of the configuration. It calls an instance from several threads only if the
/// descriptor sets `isConcurrent`. Calls may block. Throw `BridgeError`; the user sees any other error as an internal
/// one. Never print, and never wait to retry: mark the error as retryable, and the host retries.
public protocol Bridge: AnyObject, Sendable {
    /// The bridge's name, schemas and capabilities. Read once, before any instance is made.
    static var descriptor: BridgeDescriptor { get }

    /// Makes an instance. Check the options here; don't connect yet.
    init(options: BridgeOptions, context: BridgeContext) throws

    /// Connects and authenticates without reading records; returns a line about the remote, if it sent one.
    func check() throws -> String?

    /// Writes one record per entity that the API offers: `{name, fields: [{name, type, key}], section}`.
    func discover(into writer: RecordBatchWriter) throws

    /// Begins a scan of an entity's records.
    func fetch(_ request: FetchRequest) throws -> any RecordSource

    /// Creates, updates or deletes one remote object and writes the representation from the reply, if it has one.
    func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws
}

extension Bridge {
    /// Throws ``BridgeError/Code/unsupported``, the default for a bridge that cannot check.
    public func check() throws -> String? {
        throw BridgeError(.unsupported, "\(Self.descriptor.name) cannot check a connection")
    }

    /// Throws ``BridgeError/Code/unsupported``, the default for a bridge that cannot discover.
    public func discover(into writer: RecordBatchWriter) throws {
        throw BridgeError(.unsupported, "\(Self.descriptor.name) cannot discover entities")
    }

    /// Throws ``BridgeError/Code/unsupported``, the default for a bridge that cannot write.
    public func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        throw BridgeError(.unsupported, "\(Self.descriptor.name) cannot \(request.operation.rawValue) objects")
    }
}

/// A scan of one entity's records, one batch at a time.
///
/// The host drives a source from one thread at a time; it may call ``cancel()`` from any thread at any time.
public protocol RecordSource: AnyObject {
    /// Writes the next records (aim for 1,000 records or 1 MiB) and returns the state of the scan.
    ///
    /// Several calls may deliver the records of one page: the host commits when `Page.isPageEnd` is true, and rolls
    /// back to the end of the previous page if this throws.
    func next(into writer: RecordBatchWriter) throws -> Page

    /// Makes the running and every later ``next(into:)`` call throw `BridgeError.Code.cancelled` soon.
    func cancel()
}

/// The host's services for a bridge.
public struct BridgeContext: Sendable {
    let send: @Sendable (LogLevel, String) -> Void
    private let worker: (@Sendable (RecordBatch) throws -> RecordBatch?)?
    private let learner: (@Sendable (String) -> Void)?
    private let meter: (@Sendable (RequestMeasurement, Double) -> Void)?
    let share: (@Sendable (SharedTextCall) throws -> String?)?
    /// The tape that records or replays exchanges; usually nil.
    ///
    /// A bridge with ``BridgeDescriptor/Capability/replay`` passes all its requests to the remote through this tape.
    public package(set) var exchange: ExchangeTape?

    /// Creates a context that passes log lines to `send`.
    ///
    /// The kit makes one per instance; tests make their own.
    ///
    /// - Parameters:
    ///   - work: Takes a request in the form that ``work(_:)`` writes, and returns the first batch of its fetch.
    ///   - learn: Takes the secrets passed to ``learn(secret:)``.
    ///   - measure: Takes what is passed to ``measure(_:seconds:)``.
    ///   - share: Performs the calls of ``withSharedText(_:_:)``.
    ///   - send: Takes the log lines.
    public init(
        work: (@Sendable (RecordBatch) throws -> RecordBatch?)? = nil,
        learn: (@Sendable (String) -> Void)? = nil,
        measure: (@Sendable (RequestMeasurement, Double) -> Void)? = nil,
        share: (@Sendable (SharedTextCall) throws -> String?)? = nil,
        log send: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) {
        self.send = send
        worker = work
        learner = learn
        meter = measure
        self.share = share
    }

    /// Runs `body`, whose requests are not steps of the current scan, such as one for a description of the service.
    ///
    /// This matters only to a recording, which counts the requests of a scan.
    public func aside<Result>(_ body: () throws -> Result) rethrows -> Result { try ExchangeScope.aside(body) }

    /// Reports a secret obtained at run time, such as a token: the host removes it from all that it writes and prints.
    public func learn(secret: String) { learner?(secret) }

    /// Reports a request to the remote that has ended, or a wait for a rate limit, for the host's metrics.
    ///
    /// `HTTPClient` of BridgeHTTP does this for its requests. Call it from any thread.
    ///
    /// - Parameters:
    ///   - measurement: The outcome of the request, or ``RequestMeasurement/rateLimitWait``.
    ///   - seconds: The time up to the head of the reply or the failure, or the time of the wait.
    public func measure(_ measurement: RequestMeasurement, seconds: Double) { meter?(measurement, seconds) }

    /// Whether ``work(_:)`` has worker processes: only for a bridge that runs in a child process and is not concurrent.
    ///
    /// False while exchanges are recorded or replayed, because those need an order.
    public var hasWorkers: Bool { worker != nil && exchange == nil }

    /// Has another process, with an instance of the same bridge and options, produce the first batch of a fetch.
    ///
    /// Blocks until the batch is there; call it from as many threads as should work in parallel. The bridge defines the
    /// section, which need not be valid in a configuration.
    ///
    /// - Returns: The records, or nil if there are none.
    /// - Throws: `BridgeError`: the error of the other process, or a failure if that process has ended.
    public func work(_ request: FetchRequest) throws -> RecordBatch? {
        guard let worker else { throw BridgeError(.unsupported, "the host has no further processes for this bridge") }
        let writer = RecordBatchWriter()
        writer.object {
            writer.member("entity", request.entity)
            writer.key("section")
            request.section.write(to: writer)
        }
        return try worker(writer.finish())
    }

    /// The severity of a log line.
    public enum LogLevel: Int32, Sendable {
        /// Details that help to find a fault.
        case debug
        /// What is worth knowing of a normal run.
        case info
        /// Something is wrong, and the call goes on.
        case warning
        /// Something is wrong, and the call fails.
        case error
    }

    /// Sends a line to the host's log.
    ///
    /// Do not log secrets; the host redacts only those that it knows.
    public func log(_ level: LogLevel, _ message: String) { send(level, message) }
}
