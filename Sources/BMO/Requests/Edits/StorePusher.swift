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
            try unreported.map { ($0, try store.outcome(of: $0)) }
        }
        return outcomes.merging(read) { $1 }
    }
}

extension Store {
    /// Returns the outcome of an entry that a push did not report: what its state says, or, if it has left the outbox,
    /// whether another push sent it, or it was rolled back or given up by an import.
    func outcome(of entry: Int64) throws -> EditOutcome {
        if let left = try outboxEntry(entry) { return left.outcome }
        return try wasDropped(entry) ? .dropped(nil) : .sent(key: try newKey(of: entry))
    }

    /// Returns the key by which the remote replaced another one, as the report of a recent push says.
    private func newKey(of entry: Int64) throws -> [StoredValue]? {
        for run in try runs(id: nil, limit: 100) where run.kind == "push" {
            guard let summary = run.summary, let batch = try? JSONParser.batch(summary) else { continue }
            let key = withExtendedLifetime(batch) { () -> [StoredValue]? in
                let edits = batch[0]["edits"]?.elements ?? []
                let edit = edits.first { $0["entry"]?.integer == entry && $0["old_key"] != nil }
                return edit?["key"]?.elements.map { part in
                    part.integer.map { StoredValue.integer($0) } ?? .text(part.text ?? "")
                }
            }
            if let key { return key }
        }
        return nil
    }
}
