internal import Importer
internal import Mapping
internal import SQLiteStore

/// Sends edits as `bmo push` does: one push at a time, and those that are asked for during one share the next.
actor OutboxPusher: Pusher {
    private let workspace: Workspace
    private let reader: ObjectReader
    private let patience: FileLock.Patience
    private var store: SQLiteStore?
    private var isClosed = false
    /// The pushes that have not ended, by their turns.
    private var pushes: [Int: Task<PushReport, any Error>] = [:]
    private var lastTurn = 0
    /// One that has not begun, and takes further entries.
    private var next: (task: Task<PushReport, any Error>, entries: Set<Int64>)?
    /// What was sent, for those whose push finds nothing left to send.
    private var sent: [Int64: PushOutcome] = [:]
    private static let mostSent = 10_000

    init(_ workspace: Workspace, _ reader: ObjectReader, patience: FileLock.Patience) {
        self.workspace = workspace
        self.reader = reader
        self.patience = patience
    }

    func push(_ entries: [Int64]) async throws -> [Int64: PushOutcome] {
        let nothing = Dictionary(entries.map { ($0, PushOutcome.waiting(nil)) }, uniquingKeysWith: { $1 })
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
            // They wait; the file's lock did not come before the manager's end.
            if isClosed { return nothing }
            throw error
        }
        var outcomes: [Int64: PushOutcome] = [:]
        for edit in report.edits { outcomes[edit.entry] = outcome(of: edit) }
        for entry in entries where outcomes[entry] == nil {
            outcomes[entry] = await outcome(ofGone: entry)
        }
        return outcomes.filter { entries.contains($0.key) }
    }

    /// Sends what the options say, after the pushes that were asked for before.
    func push(_ options: Workspace.PushOptions) async throws -> PushReport {
        let task = inTurn { pusher in try await pusher.run(options) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends what is being sent, and closes the database.
    func close() async {
        isClosed = true
        for push in pushes.values { push.cancel() }
        for push in pushes.values { _ = await push.result }
        try? store?.close()
        store = nil
    }

    // MARK: one push

    /// Begins a push when those before it have ended.
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
        return try await run(Workspace.PushOptions(entries: entries, patience: patience))
    }

    private func run(_ options: Workspace.PushOptions) async throws -> PushReport {
        guard !isClosed else { throw CancellationError() }
        let store = try self.store ?? workspace.openStore()
        self.store = store
        let report = try await workspace.push(from: store, options, command: Workspace.programName)
        for edit in report.edits where edit.outcome == .sent { sent[edit.entry] = outcome(of: edit) }
        let old = sent.count - Self.mostSent
        if old > 0 { for entry in sent.keys.sorted().prefix(old) { sent[entry] = nil } }
        return report
    }

    /// What became of an entry that was not in the outbox any more: another push sent it, somebody took it back, or an import gave it
    /// up.
    private func outcome(ofGone entry: Int64) async -> PushOutcome {
        if let known = sent[entry] { return known }
        do {
            return try await reader.run { [reader] in try reader.store.wasDropped(entry) } ? .dropped : .done(nil)
        } catch {
            // The others of the push are told all the same.
            return .unknown(OutboxFailure(code: "unknown", message: "what became of the edit cannot be read: \(error)"))
        }
    }

    private func outcome(of edit: PushReport.Edit) -> PushOutcome {
        let failure = edit.failure ?? OutboxFailure(code: "unknown", message: "the outbox does not say why")
        switch edit.outcome {
        case .sent:
            guard edit.oldKey != nil, let schema = try? reader.schema(of: edit.entity) else { return .done(nil) }
            return .done(schema.id(of: edit.key, in: schema.layout))
        case .waits: return .waiting(edit.failure)
        case .refused: return .refused(failure)
        case .conflict: return .conflict(failure)
        case .unknown: return .unknown(failure)
        case .dropped: return .dropped
        }
    }
}
