internal import BridgeHost
internal import Importer
public import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The options of a worker.
public struct WorkOptions: Sendable {
    /// Whether to end when the round is over, or at once if none is due.
    public var untilIdle: Bool
    /// How many units this process works on at a time.
    public var concurrency: Int
    /// How long after the end of a round the next one is due.
    public var every: Duration
    /// How long the other workers wait for a sign of life from this one before they take over its units.
    public var lease: Duration

    /// Creates options.
    public init(
        untilIdle: Bool = false, concurrency: Int = 1, every: Duration = .seconds(30), lease: Duration = .seconds(30)
    ) {
        self.untilIdle = untilIdle
        self.concurrency = concurrency
        self.every = every
        self.lease = lease
    }
}

/// An event of a worker.
public enum WorkEvent: Sendable {
    /// Another command is writing to the database; the worker waits for it.
    case waits(LockHolder?)
    /// A unit was claimed; `claims` is more than 1 if an earlier worker claimed it, and neither ended it
    /// nor gave it back.
    case claimed(unit: String, claims: Int)
    /// The claimed unit ended; nil for a unit that does not scan.
    case ended(unit: String, SyncReport.Entity?)
    /// Another worker has taken over the unit, and the open page was refused.
    case superseded(unit: String)
    /// A scan reported an event.
    case sync(SyncEvent)
    /// A round is over.
    case round(SyncReport)
    /// An error after which the worker tries again, with its message.
    case trouble(String)
}

/// The tables were changed while a worker was running, which cannot go on with them.
struct ChangedTables: Error {
    let reason: StoreError
}

extension Workspace {
    /// Works on the units of rounds, together with any number of other processes, until the task is cancelled or, with
    /// ``WorkOptions/untilIdle``, the round is over.
    ///
    /// When the task is cancelled, the worker rolls open pages back and gives its units back at once.
    ///
    /// - Parameters:
    ///   - options: What the worker works on, and for how long.
    ///   - report: Called from any thread.
    /// - Returns: The report of the last round that ended while this worker was running; nil if none did.
    /// - Throws: `StoreError`, `request` if only one process can write the database; `ConfigurationErrors` for faults
    ///   that `bmo check` finds.
    public func work(
        _ options: WorkOptions, report: @escaping @Sendable (WorkEvent) -> Void
    ) async throws -> SyncReport? {
        do {
            return try await workUntilOutdated(options, report)
        } catch let changed as ChangedTables {
            throw changed.reason
        }
    }

    /// Works as ``work(_:report:)`` does.
    ///
    /// - Throws: `ChangedTables` if another worker has adapted the tables to a new configuration since this one started.
    func workUntilOutdated(
        _ options: WorkOptions, _ report: @escaping @Sendable (WorkEvent) -> Void
    ) async throws -> SyncReport? {
        let lock = try await sharedLock(report)
        defer { lock.release() }
        try stores.checkIsNewest(model, of: configuration.databasePath)
        let limits = try SharedLimits(configuration)
        let connections = Connections(self, isShared: true, limits: limits)
        do {
            try await refuseFaults(of: syncOrder(nil), over: connections)
            let result = try await work(options, lock, connections, limits, report)
            await connections.close()
            return result
        } catch {
            await connections.close()
            throw error
        }
    }

    private func work(
        _ options: WorkOptions, _ lock: any StoreLock, _ connections: Connections, _ limits: SharedLimits?,
        _ report: @escaping @Sendable (WorkEvent) -> Void
    ) async throws -> SyncReport? {
        let worker = WorkerDescription(
            id: RandomUUID.text(), name: Self.workerName, lease: options.lease, pause: options.every)
        var loops: [WorkLoop] = []
        for _ in 0..<max(1, options.concurrency) {
            let store = try openStore()
            store.keep(lock)
            guard let shared = store as? any WorkStore else { throw StoreError.cannotShare(configuration.databasePath) }
            loops.append(
                WorkLoop(
                    workspace: self, store: store, shared: shared, connections: connections, options: options,
                    worker: worker, limits: limits, plan: workPlan(), report: report))
        }
        let running = loops
        let division = limits.map { limits in Task { await running.first?.divide(limits) } }
        defer { division?.cancel() }
        let seen: SyncReport?
        do {
            seen = try await run(running)
        } catch {
            // The units are free at once: otherwise the others wait for the end of the lease.
            try? running.first?.shared.leave()
            throw error
        }
        // No request may run when others get this worker's part of the limits.
        division?.cancel()
        await division?.value
        limits?.stop()
        await connections.close()
        // Leaves the round, so that the others do not wait for the end of the lease.
        try? loops.first?.shared.leave()
        for loop in loops { try? loop.store.close() }
        return seen
    }

    private func run(_ loops: [WorkLoop]) async throws -> SyncReport? {
        try await withThrowingTaskGroup(of: SyncReport?.self) { group in
            for loop in loops { group.addTask { try await loop.run() } }
            let beat = Task { await loops.first?.beat() }
            defer { beat.cancel() }
            var last: SyncReport?
            while let seen = try await group.next() { last = seen ?? last }
            return last
        }
    }

    /// Takes the lock that workers share; waits while another command writes alone.
    private func sharedLock(_ report: @Sendable (WorkEvent) -> Void) async throws -> any StoreLock {
        try await stores.sharedLock(configuration.databasePath, command: "bmo work") { report(.waits($0)) }
    }

    /// The program, process and host.
    private static var workerName: String {
        var name = utsname()
        uname(&name)
        let host = withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return "\(programName) (process \(getpid()) on \(host))"
    }
}
