/// BridgeKit: all that a bridge author imports.
///
/// A bridge conforms a class to ``Bridge``, and exports two C functions:
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

public import RecordBatch

/// One kind of API, configured once and asked for records.
///
/// The host makes an instance per bridge of the config. It calls it from several threads only when the descriptor says
/// `isConcurrent`. Calls may block. Throw ``BridgeError``; any other error reaches the user as an internal one. Never
/// print, and never wait to retry: say that an error is retryable, and the host does it.
public protocol Bridge: AnyObject, Sendable {
    /// What the bridge is and can do. Read once, before any instance is made.
    static var descriptor: BridgeDescriptor { get }

    /// Makes an instance. Check the options here; don't connect yet.
    init(options: BridgeOptions, context: BridgeContext) throws

    /// Connects and authenticates without reading records; returns a line about the remote, if it told one.
    func check() throws -> String?

    /// Writes one record per entity that the API offers: `{name, fields: [{name, type, key}], section}`.
    func discover(into writer: RecordBatchWriter) throws

    /// Begins a walk over an entity's records.
    func fetch(_ request: FetchRequest) throws -> any RecordSource

    /// Creates, updates or deletes one remote object and writes the answer's representation, if there is one.
    func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws
}

extension Bridge {
    /// Says that this bridge cannot check.
    public func check() throws -> String? {
        throw BridgeError(.unsupported, "\(Self.descriptor.name) cannot check a connection")
    }

    /// Says that this bridge cannot discover.
    public func discover(into writer: RecordBatchWriter) throws {
        throw BridgeError(.unsupported, "\(Self.descriptor.name) cannot discover entities")
    }

    /// Says that this bridge cannot write.
    public func write(_ request: WriteRequest, into writer: RecordBatchWriter) throws {
        throw BridgeError(.unsupported, "\(Self.descriptor.name) cannot \(request.operation.rawValue) objects")
    }
}

/// A walk over the records of one entity, a batch at a time.
///
/// The host drives a source from one thread at a time; ``cancel()`` may come from any thread at any moment.
public protocol RecordSource: AnyObject {
    /// Writes the next records (aim at 1,000 records or 1 MiB) and tells where the walk stands.
    ///
    /// Records of one page may come in several calls: the host commits when ``Page/isPageEnd`` is true, and rolls back
    /// to the last page's end when this throws.
    func next(into writer: RecordBatchWriter) throws -> Page

    /// Makes a running and each later ``next(into:)`` throw ``BridgeError/Code/cancelled`` soon.
    func cancel()
}

/// What a bridge gets from the host besides its options.
public struct BridgeContext: Sendable {
    let send: @Sendable (LogLevel, String) -> Void
    private let worker: (@Sendable (RecordBatch) throws -> RecordBatch?)?
    /// Where exchanges are recorded or replayed; nil as a rule.
    ///
    /// A bridge that says ``BridgeDescriptor/Capability/replay`` hands all it asks its remote through it.
    public package(set) var exchange: ExchangeTape?

    /// A context that hands log lines to `send`; the kit makes one per instance, tests make their own.
    ///
    /// - Parameter work: Takes a request as ``work(_:)`` writes it, and gives the first batch of its fetch.
    public init(
        work: (@Sendable (RecordBatch) throws -> RecordBatch?)? = nil,
        log send: @escaping @Sendable (LogLevel, String) -> Void = { _, _ in }
    ) {
        self.send = send
        worker = work
    }

    /// Whether there are further processes for ``work(_:)``: only for a bridge that runs in one and is not concurrent.
    ///
    /// None of them where exchanges are recorded or replayed: those need an order.
    public var hasWorkers: Bool { worker != nil && exchange == nil }

    /// Has another process, with an instance of the same bridge and options, make the first batch of a fetch.
    ///
    /// Waits for it; call it from as many threads as should work at a time. The section is the bridge's own: it need not be one
    /// that a config could hold.
    ///
    /// - Returns: The records; nil for none.
    /// - Throws: ``BridgeError``: what the other process threw, or that it is gone.
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

    /// How much a log line matters.
    public enum LogLevel: Int32, Sendable {
        case debug, info, warning, error
    }

    /// Sends a line to the host's log.
    ///
    /// No secrets, please; the host redacts those that it knows.
    public func log(_ level: LogLevel, _ message: String) { send(level, message) }
}
