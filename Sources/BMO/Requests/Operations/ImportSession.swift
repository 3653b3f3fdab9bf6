internal import BridgeHost
internal import Importer
internal import Model
internal import StoreContract

/// The state that all remote operations of a manager share: a writing connection, the file lock, and the run that their
/// changes belong to. Lock and run are held while any of them is active.
actor ImportSession {
    let workspace: Workspace
    let store: any Store
    let thread: ImportThread
    let gate = PageGate()
    let connections: Connections
    private let lockTimeout: LockTimeout
    private var users = 0
    private var opening: Task<any StoreLock, any Error>?
    private var closing: Task<Void, Never>?
    /// Admit one listing of an entity at a time; by entity.
    private var listings: [Int: PageGate] = [:]
    /// The entities whose sections have no faults.
    private var validated: Set<Int> = []

    init(_ workspace: Workspace, store: any Store, lockTimeout: LockTimeout) {
        self.workspace = workspace
        self.store = store
        self.lockTimeout = lockTimeout
        thread = ImportThread()
        connections = Connections(workspace, isShared: true)
    }

    /// Returns the sync context of a request's scan.
    nonisolated func context(
        _ observer: RequestObserver, _ options: Workspace.SyncOptions = Workspace.SyncOptions(),
        report: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) -> SyncContext {
        SyncContext(
            workspace: workspace, store: store, connections: connections, thread: thread, gate: gate,
            options: options, report: report, observer: observer)
    }

    /// Rejects an entity whose sections `bmo check` would reject; entities without faults are checked once.
    ///
    /// - Throws: ``ConfigurationErrors``, `CancellationError`.
    func refuseFaults(of entity: Int) async throws {
        guard !validated.contains(entity) else { return }
        try await workspace.refuseFaults(of: [entity], over: connections)
        validated.insert(entity)
    }

    /// Runs `body` while no other request lists the entity.
    ///
    /// Two listings of an entity have the same scope: each would change what the other has noted as listed.
    func listing<Result: Sendable>(
        _ entity: Int, priority: Int, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let gate = listings[entity] ?? PageGate()
        listings[entity] = gate
        return try await gate.pass(priority: priority, body)
    }

    /// Runs `body` with the right to write.
    nonisolated func perform<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await enter()
        do {
            let result = try await body()
            try await leave()
            return result
        } catch {
            try? await leave()
            throw error
        }
    }

    private func enter() async throws {
        while let task = closing {
            await task.value
            // Awaiting a finished task does not suspend the actor: without this, the loop would never end.
            if closing == task { closing = nil }
        }
        users += 1
        let task =
            opening
            ?? Task { [workspace, store, thread, lockTimeout] in
                let lock = try await workspace.stores.lock(
                    workspace.configuration.databasePath, command: Workspace.programName, timeout: lockTimeout)
                do {
                    try await thread.run { try store.beginRun(kind: "request") }
                } catch {
                    lock.release()
                    throw error
                }
                return lock
            }
        opening = task
        do {
            _ = try await task.valueUnlessCancelled()
        } catch {
            users -= 1
            if users == 0, error is CancellationError {
                // Another request may use the lock that comes later.
                Task { await closeIfUnused(task) }
            } else if users == 0 {
                opening = nil
            }
            throw error
        }
    }

    /// Gives back the lock of an attempt, once it ends, if no request is there to use it.
    private func closeIfUnused(_ attempt: Task<any StoreLock, any Error>) async {
        let outcome = await attempt.result
        guard users == 0, opening == attempt else { return }
        guard case .success = outcome else {
            opening = nil
            return
        }
        users = 1
        try? await leave()
    }

    private func leave() async throws {
        users -= 1
        guard users == 0, let opening else { return }
        self.opening = nil
        let end = Task { [workspace, store, thread] in
            _ = try await thread.run {
                try store.endRun(
                    outcome: "finished", summary: nil, always: false, keeping: workspace.configuration.history)
            }
        }
        let done = Task {
            _ = await end.result
            if let lock = try? await opening.value { lock.release() }
        }
        closing = done
        await done.value
        if closing == done { closing = nil }
        try await end.value
    }

    /// Closes the connections.
    func close() async {
        await connections.close()
    }
}
