internal import Importer
internal import Mapping
internal import StoreContract

/// Sends edits as `bmo push` does: one push at a time; requests made during a push share the next one.
actor OutboxPusher: Pusher {
    private let workspace: Workspace
    private let reader: ObjectReader
    private let editing: ImportThread
    private let lockTimeout: LockTimeout
    private let network: NetworkFollower?
    /// Opens and closes the store, which can take long.
    private let opening = ImportThread(label: "bmo.outbox")
    private var store: (any Store)?
    private var isClosed = false
    /// The unfinished pushes, by their turns.
    private var pushes: [Int: Task<PushReport, any Error>] = [:]
    private var lastTurn = 0
    /// A push that has not begun, and accepts further entries.
    private var next: (task: Task<PushReport, any Error>, entries: Set<Int64>)?
    /// The outcomes of sent entries, for pushes that find nothing left to send.
    private var sent: [Int64: EditOutcome] = [:]
    private static let maxSent = 10_000

    init(
        _ workspace: Workspace, _ reader: ObjectReader, _ editing: ImportThread, lockTimeout: LockTimeout,
        _ network: NetworkFollower?
    ) {
        self.workspace = workspace
        self.reader = reader
        self.editing = editing
        self.lockTimeout = lockTimeout
        self.network = network
    }

    /// Sends entries, and waits for the network where there is none.
    func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome] {
        var tries = NetworkTries(network, workspace)
        var outcomes = try await pushOnce(entries)
        while try await goesOn(&tries, with: outcomes) {
            outcomes.merge(try await pushOnce(entries)) { $1 }
        }
        return outcomes
    }

    /// Sends the edits that the options select, after the earlier pushes, and waits for the network where there is none.
    func push(_ options: Workspace.PushOptions) async throws -> PushReport {
        var tries = NetworkTries(network, workspace)
        var report = try await pushOnce(options)
        while try await goesOn(&tries, with: report.outcomes) {
            report.add(try await pushOnce(options))
        }
        return report
    }

    /// Waits for the network if edits could not be sent without it, and makes them due.
    ///
    /// - Returns: Whether to push again.
    private func goesOn(_ tries: inout NetworkTries, with outcomes: [Int64: EditOutcome]) async throws -> Bool {
        let stuck = Set(
            outcomes.compactMap { entry, outcome in
                if case .waits(_, let failure?) = outcome, failure.code == "unreachable" { entry } else { nil }
            })
        guard network != nil, !stuck.isEmpty else { return false }
        let waiting = try await reader.run { [reader] in
            try reader.store.outbox(entity: nil, state: .pending).filter { stuck.contains($0.id) }
        }
        let model = workspace.model.model
        let bridges = Set(waiting.compactMap { model.entity(named: $0.entity).map { model.scanned($0).bridge } })
        for bridge in bridges.sorted() {
            do {
                guard try await tries.goesOn(afterUnreachable: bridge) else { continue }
            } catch {
                // The task is cancelled: the edits wait, as the outcomes say.
                return false
            }
            let entries = waiting.map(\.id)
            // One that another process has sent meanwhile is not due any more; the push finds out.
            try? await editing.run { [reader] in try reader.store.retryOutbox(entries) }
            return !isClosed
        }
        return false
    }

    /// Sends entries once, and does not wait for the network.
    func pushOnce(_ entries: [Int64]) async throws -> [Int64: EditOutcome] {
        let nothing = Dictionary(entries.map { ($0, EditOutcome.waits(until: nil, nil)) }, uniquingKeysWith: { $1 })
        guard !isClosed else { return nothing }
        let task: Task<PushReport, any Error>
        if let next {
            self.next?.entries.formUnion(entries)
            task = next.task
        } else {
            task = inTurn { pusher in try await pusher.runNext() }
            next = (task, Set(entries))
        }
        let report: PushReport
        do {
            report = try await task.value
        } catch {
            // The edits wait; the manager ended before it got the file lock.
            if isClosed { return nothing }
            throw error
        }
        var outcomes: [Int64: EditOutcome] = [:]
        for edit in report.edits { outcomes[edit.entry] = edit.outcome }
        outcomes.merge(await self.outcomes(ofUnreported: entries.filter { outcomes[$0] == nil })) { $1 }
        return outcomes.filter { entries.contains($0.key) }
    }

    /// Sends the edits that the options select, after the earlier pushes, once.
    private func pushOnce(_ options: Workspace.PushOptions) async throws -> PushReport {
        let task = inTurn { pusher in try await pusher.run(options) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Finishes the current push, and closes the database.
    func close() async {
        isClosed = true
        for push in pushes.values { push.cancel() }
        for push in pushes.values { _ = await push.result }
        if let store { try? await opening.run { try store.close() } }
        store = nil
    }

    // MARK: one push

    /// Starts a push when the earlier ones have ended.
    private func inTurn(
        _ body: @escaping @Sendable (OutboxPusher) async throws -> PushReport
    ) -> Task<PushReport, any Error> {
        let previous = pushes[lastTurn]
        lastTurn += 1
        let turn = lastTurn
        let task = Task {
            defer { pushes[turn] = nil }
            _ = await previous?.result
            return try await body(self)
        }
        pushes[turn] = task
        return task
    }

    private func runNext() async throws -> PushReport {
        let entries = next?.entries ?? []
        next = nil
        return try await run(Workspace.PushOptions(entries: entries, lockTimeout: lockTimeout))
    }

    private func run(_ options: Workspace.PushOptions) async throws -> PushReport {
        guard !isClosed else { throw CancellationError() }
        let store = try await openStore()
        let report = try await workspace.push(from: store, options, command: Workspace.programName)
        for edit in report.edits where edit.outcome.kind == .sent { sent[edit.entry] = edit.outcome }
        let old = sent.count - Self.maxSent
        if old > 0 { for entry in sent.keys.sorted().prefix(old) { sent[entry] = nil } }
        return report
    }

    /// Returns the store of all pushes; they run one after the other, so that it is opened once.
    private func openStore() async throws -> any Store {
        if let store { return store }
        let opened = try await opening.run { [workspace] in try workspace.openStore() }
        store = opened
        return opened
    }

    /// Returns the outcomes of entries that the push did not report: another push may have sent them.
    private func outcomes(ofUnreported entries: some Collection<Int64>) async -> [Int64: EditOutcome] {
        var outcomes: [Int64: EditOutcome] = [:]
        for entry in entries { outcomes[entry] = sent[entry] }
        let others = entries.filter { outcomes[$0] == nil }
        guard !others.isEmpty else { return outcomes }
        do {
            let read = try await reader.run { [reader] in try reader.store.outcomes(of: others) }
            return outcomes.merging(read) { $1 }
        } catch {
            // The other outcomes of the push are still reported.
            let failure = OutboxFailure(code: "unknown", message: "the outcome of the edit cannot be read: \(error)")
            for entry in others { outcomes[entry] = .unknown(sent: nil, failure) }
            return outcomes
        }
    }
}

/// Sends edits without waiting for the network, for a save that is rolled back if it cannot be sent now.
struct ImmediatePusher: Pusher {
    let pusher: OutboxPusher

    func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome] { try await pusher.pushOnce(entries) }
}
