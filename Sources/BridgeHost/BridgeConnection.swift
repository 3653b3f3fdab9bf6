public import RecordBatch
internal import SystemCalls

/// A configured and open bridge.
///
/// Safe to use from any task. A bridge that is not concurrent serves one fetch at a time. A second fetch waits until
/// the first is closed, or gets its own child process if the bridge runs in one. When the bridge crashes, the running
/// calls fail with `BridgeFailure.Code.crashed` and the next call restarts it.
public final class BridgeConnection: Sendable {
    /// The plugin that provides the bridge.
    public let plugin: PluginListing
    /// Where the bridge runs.
    public let isolation: PluginListing.Isolation
    /// The bridge's name in the configuration.
    public var name: String { log.bridge }

    private let pool: SessionPool
    private let helpers: HelperPool?
    private let opener: SessionOpener
    private let watches = Mutex<[Watching]>([])
    private let limits: BridgeLimits
    private let log: BridgeLog

    init(
        plugin: PluginListing, isolation: PluginListing.Isolation, pool: SessionPool, opener: SessionOpener,
        limits: BridgeLimits, log: BridgeLog
    ) {
        self.plugin = plugin
        self.isolation = isolation
        self.pool = pool
        self.opener = opener
        helpers = opener.helpers
        self.limits = limits
        self.log = log
    }

    /// Returns the requests that all processes of the bridge have reported since the last call.
    public func takeRequests() -> RequestCounts { log.meter.take() }

    /// Redacts this connection's secrets in text written by or derived from the remote.
    ///
    /// The secrets are those of the options and those that the bridge has reported since.
    public func redacted(_ text: String) -> String { log.redactor.redact(text) }

    /// Redacts text for people, including pieces of those secrets.
    public func masked(_ text: String) -> String { log.redactor.mask(text) }

    /// Connects and authenticates without reading records.
    ///
    /// - Returns: The bridge's message, if any.
    public func check() async throws(BridgeFailure) -> String? {
        try require("check")
        guard let batch = try await batch(.check, "check") else { return nil }
        guard let message = OwnedRecord(batch)?.text("message") else {
            throw .malformed("the bridge answered check with something that has no message", log)
        }
        return log.clean(message, limit: 4000)
    }

    /// Returns the entities and fields that the API offers: one record per entity, as in `bmo_bridge.h`.
    public func discover() async throws(BridgeFailure) -> RecordBatch {
        try require("discover")
        guard let batch = try await batch(.discover, "discover") else {
            throw .malformed("the bridge answered discover with nothing", log)
        }
        return batch
    }

    /// Creates, updates or deletes one object; never retries.
    ///
    /// - Parameter request: A batch of one object with operation, entity, section, key, values and the other members in
    ///   `bmo_bridge.h`.
    /// - Returns: The representation in the reply, if the API returned one.
    public func write(_ request: RecordBatch) async throws(BridgeFailure) -> RecordBatch? {
        guard let operation = OwnedRecord(request)?.text("operation") else {
            throw BridgeFailure(.internal, "a write request without an operation", bridge: name)
        }
        try require(operation)
        do throws(BridgeFailure) {
            return try await batch(.write(request), operation)
        } catch {
            // A process that crashed may have sent the write first.
            var failure = error
            if failure.code == .crashed { failure.isRetryable = false }
            throw failure
        }
    }

    /// Starts to fetch an entity's records.
    ///
    /// Waits for its turn if the bridge serves one fetch at a time. Close the stream when done with it.
    public func fetch(_ request: FetchRequest) async throws(BridgeFailure) -> RecordStream {
        try require("fetch")
        if request.cursor != nil { try require("resume") }
        if request.token != nil || request.since != nil { try require("incremental") }
        if request.newestFirst { try require("newest_first") }
        if request.userInfo != nil { try require("user_info") }
        if request.parameters != nil { try require("parameters") }
        if request.parent != nil { try require("parent") }
        if request.explains { try require("plan") }
        if request.validates { try require("judge") }
        var limits = limits
        limits.retries.patience = request.patience ?? limits.retries.patience
        let stream = RecordStream(
            request, pool: pool, limits: limits, log: log, canResume: plugin.can("resume"))
        try await stream.start()
        return stream
    }

    /// Starts to watch the source of an entity's records for changes.
    ///
    /// Uses only the request's entity, section and parent. The watch has its own instance of the bridge and must be
    /// closed.
    ///
    /// - Throws: `BridgeFailure.Code.unsupported` when the bridge or the remote cannot report changes; poll instead.
    public func watch(_ request: FetchRequest) async throws(BridgeFailure) -> ChangeWatch {
        try require("watch")
        if request.parent != nil { try require("parent") }
        var asked = FetchRequest(entity: request.entity, section: request.section)
        asked.parent = request.parent
        var opener = opener
        opener.helpers = nil
        let watch = try await ChangeWatch.open(
            asked, opener: opener, limits: limits, log: log)
        watches.withLock { watches in
            watches.removeAll { $0.watch == nil }
            watches.append(Watching(watch: watch))
        }
        return watch
    }

    /// How many fetches wait for an instance of the bridge.
    package var waitingFetches: Int { pool.waitingFetches }

    /// Closes the bridge; calls still running fail with `BridgeFailure.Code.cancelled`.
    public func close() async {
        for watching in watches.withLock({ $0 }) { await watching.watch?.close() }
        await helpers?.close()
        await pool.close(grace: .seconds(2))
    }

    /// Returns the result of `body` and closes the connection, whether or not it throws.
    package func closing<Result>(
        isolation: isolated (any Actor)? = #isolation, after body: () async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body()
            await close()
            return result
        } catch {
            await close()
            throw error
        }
    }

    private func require(_ capability: String) throws(BridgeFailure) {
        guard plugin.can(capability) else {
            throw BridgeFailure(
                .unsupported, "the bridge `\(plugin.name)` cannot \(capability)", bridge: name,
                remedy: "it can: \(plugin.capabilities.joined(separator: ", "))")
        }
    }

    private func batch(_ call: BridgeCall, _ what: String) async throws(BridgeFailure) -> RecordBatch? {
        let session = try await pool.session()
        let promise = session.submit(call)
        let late = BridgeFailure(
            .timeout, "the bridge did not answer \(what) within \(limits.call.components.seconds) s", bridge: name)
        let giveUp: @Sendable (BridgeFailure) -> Void = { [pool] failure in
            promise.fulfil(.lost(failure)) { pool.abandon(session) }
        }
        let timer = promise.fulfil(after: limits.call, with: .lost(late)) { [pool] in pool.abandon(session) }
        defer { timer.cancel() }
        let reply = await withTaskCancellationHandler {
            await promise.value
        } onCancel: { [name] in
            giveUp(.cancelled(name))
        }
        switch reply {
        case .lost(let failure): throw failure
        case .failed(let error): throw .decode(error, doing: what, log: log, limit: limits.pageSize)
        case .done(let bytes, _): return try RecordBatch.checked(bytes, what: what, limits: limits, log: log)
        }
    }
}

/// A weak reference to a watch that the caller may have released.
private struct Watching {
    weak var watch: ChangeWatch?
}

extension RecordBatch {
    /// Decodes the batch in a bridge's bytes; returns nil when it has no records.
    static func checked(
        _ bytes: ForeignBytes?, what: String, limits: BridgeLimits, log: BridgeLog
    ) throws(BridgeFailure) -> RecordBatch? {
        guard let bytes, bytes.bytes.count > 0 else { return nil }
        guard bytes.bytes.count <= limits.batchSize else {
            throw .malformed(
                "the bridge answered \(what) with a batch of \(bytes.bytes.count) bytes; the limit is "
                    + "\(limits.batchSize)", log)
        }
        do {
            let batch = try bytes.batch()
            return batch.count > 0 ? batch : nil
        } catch {
            guard !error.isLimit else {
                throw BridgeFailure(
                    .limit, "\(what): \(error)", bridge: log.bridge, remedy: "report it to the bridge's author")
            }
            throw .malformed("the bridge answered \(what) with a batch that violates the format: \(error)", log)
        }
    }
}
