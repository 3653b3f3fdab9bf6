internal import BridgeHost
internal import Foundation
internal import Importer
public import Logging
public import Mapping
internal import Model
public import RecordBatch
public import StoreContract
internal import SystemCalls

/// Manages requests over one database: local objects are returned at once, and the remote's answer follows.
///
/// ```swift
/// let manager = try await RequestManager(config: "bmo.yml", stores: SQLiteStores())
/// let fetch = try await manager.fetch(ObjectRequest("Country", where: Field("population") > 1_000_000))
/// show(fetch.local)                          // at once
/// let result = try await fetch.remote        // inserted, updated, deleted, ...
/// ```
///
/// Safe to use from any task. Local reads have a connection of their own and never wait for an import. Equivalent
/// requests that run concurrently share one answer. While the remote is queried, the manager holds the file lock: syncs
/// of other processes wait for it, or it for them. Close the manager at the end.
public final class RequestManager: Sendable {
    /// The settings of a manager.
    public struct Options: Sendable {
        /// The handling of a request whose remote is unreachable.
        public var availability = AvailabilityPolicy.fail
        /// Lets requests and pushes wait for the network; nil if they fail without it.
        public var network: NetworkRetry?
        /// How long a request waits for another process that writes the file.
        public var lockTimeout: LockTimeout = .atMost(.seconds(30))
        /// How many objects a result lists individually; all are counted.
        public var detailLimit = 10_000
        /// Whether saves are sent to their remotes; if not, their edits wait for `push(_:)` or `bmo push`.
        public var sendsEdits = true
        /// The clock of times to live and of the pauses of ``availability``; for tests.
        public var clock: any _Concurrency.Clock<Duration> = ContinuousClock()

        /// Creates the default options.
        public init() {}
    }

    /// The configuration with its plugins and its model.
    public let workspace: Workspace
    /// The manager's settings.
    public let options: Options

    let session: ImportSession
    let reader: ObjectReader
    let editing = ImportThread(label: "bmo.edit")
    let pusher: OutboxPusher
    let tasks = RunningTasks()
    let flights = Mutex<[ExactText: RemoteOperation]>([:])
    /// Includes operations that are being cancelled, which no request may join any more.
    private let running = Mutex<[ObjectIdentifier: RemoteOperation]>([:])
    let stopwatch: Stopwatch
    private let network: NetworkFollower?
    /// When the remote last answered each request.
    private let answers = Mutex<[ExactText: Duration]>([:])

    /// Creates a manager for a configuration file, with plugins and linked bridges.
    ///
    /// - Parameters:
    ///   - config: The file.
    ///   - stores: The kind of database, such as `SQLiteStores()`.
    ///   - bridges: Bridges that are linked into this program, named by the configuration as plugins are; one in Swift
    ///     is `BridgeExport(MyBridge.self)`.
    ///   - code: The code that the file names.
    ///   - options: The manager's settings.
    ///   - logger: Receives the bridges' logs.
    /// - Throws: `ConfigurationErrors` with every fault, `StoreError`.
    public convenience init(
        config: String, stores: any StoreProvider, bridges: [any LinkedBridge] = [], code: CustomCode = CustomCode(),
        options: Options = Options(), logger: Logger = Logger(label: "bmo")
    ) async throws {
        let host = BridgeHost(logger: logger, linked: bridges)
        try self.init(
            try await Workspace.load(path: config, host: host, stores: stores, code: code), options: options)
    }

    /// Creates a manager for bridges and entities that are defined in code.
    ///
    /// - Parameters:
    ///   - definition: The database, the bridges and the entities.
    ///   - stores: The kind of database, such as `SQLiteStores()`.
    ///   - bridges: Bridges that are linked into this program.
    ///   - options: The manager's settings.
    ///   - logger: Receives the bridges' logs.
    /// - Throws: `ConfigurationErrors` with every fault, `StoreError`.
    public convenience init(
        _ definition: ModelDefinition, stores: any StoreProvider, bridges: [any LinkedBridge] = [],
        options: Options = Options(),
        logger: Logger = Logger(label: "bmo")
    ) async throws {
        let host = BridgeHost(logger: logger, linked: bridges)
        try self.init(try await Workspace.load(definition, host: host, stores: stores), options: options)
    }

    /// Creates a manager for a workspace.
    ///
    /// - Throws: `StoreError` when the database cannot be opened.
    public init(_ workspace: Workspace, options: Options = Options()) throws {
        self.workspace = workspace
        self.options = options
        let stopwatch = Stopwatch(options.clock)
        self.stopwatch = stopwatch
        network = options.network.map { NetworkFollower($0, stopwatch) }
        // If another process holds the lock, it has migrated the tables; else they are migrated here under the lock.
        let path = workspace.configuration.databasePath
        let lock: (any StoreLock)?
        do {
            lock = try workspace.stores.lock(path, command: Workspace.programName)
        } catch let error as StoreError where error.code == .busy {
            lock = nil
        }
        defer { lock?.release() }
        let store = try workspace.openStore()
        do {
            reader = ObjectReader(try workspace.openStore(), workspace.model)
        } catch {
            try? store.close()
            throw error
        }
        session = ImportSession(workspace, store: store, lockTimeout: options.lockTimeout)
        pusher = OutboxPusher(workspace, reader, editing, lockTimeout: options.lockTimeout, network)
    }

    /// Closes the database and the bridges.
    ///
    /// Running requests are cancelled and waited for. Edits that are being sent are waited for, too; unsent edits stay
    /// in the outbox. From then on, observations have ended, and each call throws a ``RequestError`` of the code `closed`.
    ///
    /// - Throws: `StoreError`.
    public func close() async throws {
        tasks.refuse()
        let operations = cancelledOperations()
        network?.close()
        for operation in operations { await operation.end() }
        await pusher.close()
        await tasks.close()
        // Those of fetches that were about to begin.
        for operation in cancelledOperations() { await operation.end() }
        await session.close()
        try await editing.run { [reader, session] in
            try reader.store.close()
            try session.store.close()
        }
    }

    private func cancelledOperations() -> [RemoteOperation] {
        let operations = running.withLock { Array($0.values) }
        for operation in operations { operation.cancelAll() }
        return operations
    }

    // MARK: local

    /// Returns the local objects of a request, without querying the remote.
    ///
    /// - Throws: ``RequestError``.
    public func objects(_ request: ObjectRequest) async throws -> [LocalObject] {
        try await whileOpen(.answeredLocally, request.entity) { try await reader.objects(request) }
    }

    /// Returns the local objects of a request as values of your type.
    ///
    /// - Throws: ``RequestError``, `DecodingError`.
    public func values<Value: Decodable>(
        _ request: ObjectRequest, as type: Value.Type = Value.self
    ) async throws -> [Value] {
        try await objects(request).map { try $0.decoded(as: type) }
    }

    /// Returns how many local objects match a request, regardless of its limit and offset.
    ///
    /// - Throws: ``RequestError``.
    public func count(_ request: ObjectRequest) async throws -> Int {
        try await whileOpen(.answeredLocally, request.entity) { try await reader.count(request) }
    }

    /// Returns the local object with a key, whose values are in the key's order; nil when it does not exist.
    ///
    /// - Throws: ``RequestError`` for an unknown entity, and for a key that does not fit it.
    public func get(
        _ entity: String, _ key: any LocalValueConvertible..., including: [String] = []
    ) async throws -> LocalObject? {
        try await get(ObjectID(entity: entity, key: key.map(\.localValue)), including: including)
    }

    /// Returns the local object with an identity; nil when it does not exist.
    ///
    /// - Throws: ``RequestError``.
    public func get(_ id: ObjectID, including: [String] = []) async throws -> LocalObject? {
        try await whileOpen(.answeredLocally, id.entity) {
            let key = try reader.storedKey(id)
            return try await reader.objects(id.entity, keys: [key], including: including).first
        }
    }

    /// Returns the local objects of a request as a sequence, which reads page after page.
    ///
    /// - Parameters:
    ///   - request: The request; only its local part counts.
    ///   - pageSize: How many objects are read at a time.
    public func cursor(_ request: ObjectRequest, pageSize: Int = 500) -> ObjectCursor {
        ObjectCursor(reader: reader, request: request, pageSize: max(1, pageSize)) { [self] query, including in
            try await whileOpen(.answeredLocally, query.entity) {
                try await reader.page(query, including: including)
            }
        }
    }

    /// Returns the local objects of a request and their later differences, whichever process writes them.
    ///
    /// The sequence asks the database with its first element, and not on the caller's thread.
    ///
    /// - Throws: ``RequestError`` for a request that does not fit the model.
    public func observe(_ request: ObjectRequest) throws -> ObjectObservation {
        try tasks.check(request.entity)
        return try ObjectObservation(
            request, store: session.store, reader: reader, isClosed: { [tasks] in tasks.isClosed })
    }

    // MARK: remote

    /// Returns the local objects, and queries the remote if the request's type requires it.
    ///
    /// Returns when the local objects are read.
    ///
    /// - Throws: ``RequestError`` for a request that does not fit the model, or when the database cannot be read.
    public func fetch(_ request: ObjectRequest) async throws -> ObjectFetch {
        let local = try await objects(request)
        let part: ObjectFetch.Part
        if let skip = await skip(request, local) {
            part = .skipped(skip)
        } else {
            try tasks.enter(request.entity)
            let (operation, subscriber) = join(request)
            tasks.leave()
            if let limit = request.timeLimit {
                operation.expire(
                    subscriber, after: { [stopwatch] in try await stopwatch.sleep(for: limit) },
                    with: .deadline(of: request, limit))
            }
            part = .running(operation, subscriber: subscriber)
        }
        return ObjectFetch(request, local: local, part) { [self] in try await objects($0) }
    }

    private func skip(_ request: ObjectRequest, _ local: [LocalObject]) async -> FetchResult.Skip? {
        switch request.type {
        case .always: return nil
        case .never: return .never
        case .ifNoLocal: return local.contains { !$0.isStub } ? .localObjects : nil
        case .custom(let decide): return await decide(local) ? nil : .custom
        case .timeToLive(let duration):
            let last = answers.withLock { $0[key(of: request)] }
            return last.map { stopwatch.elapsed - $0 < duration } == true ? .fresh : nil
        }
    }

    /// Returns a request's operation: a running one, or a new one.
    private func join(_ request: ObjectRequest) -> (RemoteOperation, subscriber: Int) {
        let key = key(of: request)
        return flights.withLock { flights in
            if let flight = flights[key], let subscriber = flight.subscribe() { return (flight, subscriber) }
            let operation = RemoteOperation { [weak self] ended in
                self?.flights.withLock { if $0[key] === ended { $0[key] = nil } }
            }
            flights[key] = operation
            let subscriber = operation.subscribe() ?? 0
            running.withLock { $0[ObjectIdentifier(operation)] = operation }
            operation.start { [self] operation in
                defer { _ = running.withLock { $0.removeValue(forKey: ObjectIdentifier(operation)) } }
                let fetch = remoteFetch(request, report: { operation.report($0) })
                var result = try await fetch.run()
                if request.fetchesIncluded { result = try await IncludedFetch(fetch: fetch).run(after: result) }
                noteAnswer(to: key)
                return result
            }
            return (operation, subscriber)
        }
    }

    func remoteFetch(
        _ request: ObjectRequest, report: @escaping @Sendable (RequestEvent) -> Void = { _ in }
    ) -> RemoteFetch {
        RemoteFetch(
            request: request, session: session, reader: reader, availability: options.availability,
            stopwatch: stopwatch, detailLimit: detailLimit, network: network, report: report)
    }

    /// How many objects a result lists, within what can be counted on from.
    var detailLimit: Int { min(max(0, options.detailLimit), Int(Int32.max)) }

    /// Returns the key of the requests that share an answer with this one.
    private func key(of request: ObjectRequest) -> ExactText {
        // A fetch along with the request may give the user info to another bridge than the request's own.
        ExactText(request.semanticKey(hasUserInfo: request.fetchesIncluded || remoteFetch(request).hasUserInfo))
    }

    private func noteAnswer(to key: ExactText) {
        answers.withLock { answers in
            // Keys come from the program's requests: a program that fetches each object by its key has many.
            if answers.count >= 10_000, let oldest = answers.min(by: { $0.value < $1.value }) {
                answers[oldest.key] = nil
            }
            answers[key] = stopwatch.elapsed
        }
    }

    /// Runs a call as ``atStep(_:_:isolation:_:)`` unless the manager is closed; ``close()`` waits for its end.
    func whileOpen<Result>(
        _ step: RequestStep, _ entity: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try tasks.enter(entity)
        defer { tasks.leave() }
        return try await atStep(step, entity, body)
    }

    /// Runs `body`, and converts the store's errors to request errors.
    func atStep<Result>(
        _ step: RequestStep, _ entity: String, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as StoreError {
            guard error.code != .request else {
                throw RequestError(.requested, entity: entity, code: "request", error.message, remedy: error.remedy)
            }
            var failure = RequestError(step, entity: entity, code: "database", error.message, remedy: error.remedy)
            failure.isRetryable = error.code == .busy
            throw failure
        }
    }
}
