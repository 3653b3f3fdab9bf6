internal import Mapping
internal import RecordBatch
package import StoreContract

/// Sends edits by one push of a workspace, and reads what became of those that it did not report.
package struct StorePusher: Pusher {
    private let workspace: Workspace
    private let store: any Store
    private let options: Workspace.PushOptions
    private let command: String
    private let report: @Sendable (PushReport.Edit) -> Void
    private let onBusy: @Sendable (StoreError) -> Void

    /// Creates a pusher.
    ///
    /// - Parameters:
    ///   - store: The database.
    ///   - options: The edits of the push, which may be more than those that are asked for.
    ///   - command: The command that other processes see as the lock's holder; no secrets.
    ///   - onBusy: Called if another process pushes for too long; the edits then wait.
    ///   - report: Called when an edit is finished, from any thread.
    package init(
        _ workspace: Workspace, _ store: any Store, _ options: Workspace.PushOptions, command: String,
        onBusy: @escaping @Sendable (StoreError) -> Void, report: @escaping @Sendable (PushReport.Edit) -> Void
    ) {
        self.workspace = workspace
        self.store = store
        self.options = options
        self.command = command
        self.onBusy = onBusy
        self.report = report
    }

    package func push(_ entries: [Int64]) async throws -> [Int64: EditOutcome] {
        var outcomes: [Int64: EditOutcome] = [:]
        do {
            let wanted = Set(entries)
            let report = try await workspace.push(from: store, options, command: command) { [report] edit in
                if wanted.contains(edit.entry) { report(edit) }
            }
            for edit in report.edits where wanted.contains(edit.entry) { outcomes[edit.entry] = edit.outcome }
        } catch let error as StoreError where error.code == .busy {
            onBusy(error)
        }
        let unreported = entries.filter { outcomes[$0] == nil }
        guard !unreported.isEmpty else { return outcomes }
        let read = try await ImportThread(label: "bmo.outbox").run { [store] in
            try store.outcomes(of: unreported)
        }
        return outcomes.merging(read) { $1 }
    }
}

extension Store {
    /// Returns the outcomes of entries that a push did not report: what their states say, or, if they have left the outbox,
    /// whether another push sent them, or they were rolled back or given up by an import.
    func outcomes(of entries: [Int64]) throws -> [Int64: EditOutcome] {
        var outcomes: [Int64: EditOutcome] = [:]
        var sent: Set<Int64> = []
        for entry in entries {
            if let left = try outboxEntry(entry) {
                outcomes[entry] = left.outcome
            } else if try wasDropped(entry) {
                outcomes[entry] = .dropped(nil)
            } else {
                sent.insert(entry)
            }
        }
        let keys = try newKeys(of: sent)
        for entry in sent { outcomes[entry] = .sent(key: keys[entry]) }
        return outcomes
    }

    /// Returns the keys by which the remote replaced others, as the reports of recent pushes say.
    private func newKeys(of entries: Set<Int64>) throws -> [Int64: [StoredValue]] {
        var keys: [Int64: [StoredValue]] = [:]
        guard !entries.isEmpty else { return keys }
        for run in try runs(id: nil, limit: 100) where run.kind == "push" && keys.count < entries.count {
            guard let summary = run.summary, let batch = try? JSONParser.batch(summary) else { continue }
            withExtendedLifetime(batch) {
                for edit in batch[0]["edits"]?.elements ?? [] where edit["old_key"] != nil {
                    guard let entry = edit["entry"]?.integer, entries.contains(entry), keys[entry] == nil else {
                        continue
                    }
                    keys[entry] = edit["key"]?.elements.map { part in
                        part.integer.map { StoredValue.integer($0) } ?? .text(part.text ?? "")
                    }
                }
            }
        }
        return keys
    }
}
