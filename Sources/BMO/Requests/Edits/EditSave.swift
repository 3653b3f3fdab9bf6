package import StoreContract

/// Edits that were made locally, and their way to the remote: `RequestManager.save` and `bmo create|update|delete`.
package struct EditSave: Sendable {
    /// What became of the edits.
    package struct Result: Sendable {
        /// The outcome of each entry.
        package var outcomes: [Int64: EditOutcome]
        /// The entries that were rolled back.
        package var rolledBack: Set<Int64> = []
        /// Why rejected edits stay in the outbox nevertheless; nil where none does.
        package var fault: (any Error)?
    }

    /// The receipts of the edits, in their order.
    package let receipts: [EditReceipt]
    /// The entries in the outbox, with updates that were deferred until objects that refer to each other are created.
    package let entries: [Int64]
    /// When the edits take effect, and what is rolled back.
    package let workflow: SaveWorkflow

    /// Checks edits against the configuration, then applies them: rows and outbox in one transaction.
    ///
    /// - Throws: ``StoreError`` of the code `request` for edits that cannot be written, with all reasons; other errors
    ///   of the store.
    init(_ edits: [PlannedEdit], _ workflow: SaveWorkflow, of workspace: Workspace, in store: any Store) throws {
        self.workflow = workflow
        guard !edits.isEmpty else {
            (receipts, entries) = ([], [])
            return
        }
        try workspace.check(edits.map(\.edit), in: store)
        receipts = try store.edit(
            inTurn: edits.map { edit in { edit.made(after: $0) } }, joining: !workflow.rollsBack)
        entries = try Self.entries(of: receipts, in: store)
    }

    /// Returns the entries of edits, with updates that were deferred until objects that refer to each other are
    /// created.
    private static func entries(of receipts: [EditReceipt], in store: any Store) throws -> [Int64] {
        var entries = Set(receipts.compactMap(\.entry))
        for receipt in receipts.count > 1 ? receipts : [] {
            guard let entry = receipt.entry else { continue }
            let later = try store.outbox(entity: receipt.entity, key: receipt.key).filter { $0.id > entry }
            entries.formUnion(later.map(\.id))
        }
        return entries.sorted()
    }

    /// Sends the edits, then rolls back those that the workflow does not keep.
    ///
    /// - Parameter store: The database, which must not be read on this thread at the same time.
    package func send(by pusher: any Pusher, in store: any Store) async throws -> Result {
        try await send(by: pusher, in: store, on: ImportThread(label: "bmo.edit"))
    }

    /// Sends the edits, then rolls back those that the workflow does not keep, on the given thread.
    func send(by pusher: any Pusher, in store: any Store, on thread: ImportThread) async throws -> Result {
        let outcomes = try await pusher.push(entries)
        guard workflow.rollsBack else { return Result(outcomes: outcomes) }
        return try await thread.run { rollBack(outcomes, in: store) }
    }

    private func rollBack(_ outcomes: [Int64: EditOutcome], in store: any Store) -> Result {
        do {
            let left = try entries.compactMap { try store.outboxEntry($0) }
            let rollback = SaveRollback(workflow, left: left, after: outcomes)
            if !rollback.entries.isEmpty { try store.dropOutbox(rollback.entries) }
            return Result(
                outcomes: outcomes.merging(rollback.outcomes) { $1 }, rolledBack: Set(rollback.entries))
        } catch {
            // The remote's message matters more: the edits stay, with a note on the failed rollback.
            let words = "it stays in the outbox, because it could not be rolled back: \(error)"
            return Result(
                outcomes: outcomes.mapValues { $0.isRejected ? $0.adding(remedy: words) : $0 }, fault: error)
        }
    }
}

extension Workspace {
    /// Checks local edits, and applies them, to be sent by ``EditSave/send(by:in:)``.
    ///
    /// - Throws: ``StoreError`` of the code `request` for edits that cannot be written, with all reasons; other errors
    ///   of the store.
    package func save(_ edits: [LocalEdit], workflow: SaveWorkflow, in store: any Store) throws -> EditSave {
        try EditSave(edits.map(PlannedEdit.init), workflow, of: self, in: store)
    }
}

extension EditOutcome {
    fileprivate func adding(remedy: String) -> EditOutcome {
        func more(_ failure: OutboxFailure) -> OutboxFailure {
            var failure = failure
            failure.remedy = failure.remedy.map { "\($0); \(remedy)" } ?? remedy
            return failure
        }
        return switch self {
        case .sent, .waits, .unknown, .dropped: self
        case .refused(let failure): .refused(more(failure))
        case .conflict(let failure): .conflict(failure.map(more))
        }
    }
}
