package import StoreContract

/// Edits that were made locally, and their way to the remote: `RequestManager.save` and `bmo create|update|delete`.
package struct EditSave: Sendable {
    /// What became of the edits.
    package struct Result: Sendable {
        /// The outcome of each entry.
        package var outcomes: [Int64: EditOutcome]
        /// The entries that were rolled back.
        package var rolledBack: Set<Int64> = []
        /// Why rejected edits stay in the outbox nevertheless, and what to do; nil where none does.
        package var fault: (any Error)?
        /// Why the push ended early, though the outcomes are known; nil where it did not.
        package var failure: (any Error)?
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
        let made = try store.edit(
            inTurn: edits.map { edit in { edit.made(after: $0) } }, joining: !workflow.rollsBack)
        (receipts, entries) = (made, try Self.entries(of: made, workflow, in: store))
    }

    /// Returns the entries of edits, with updates that were deferred until objects that refer to each other are
    /// created.
    ///
    /// The edits are committed. If the outbox cannot be read now, those that nothing rolls back leave their deferred
    /// updates to a later push.
    ///
    /// - Throws: ``StoreError`` that says that the edits stay, if they are to be rolled back.
    private static func entries(
        of receipts: [EditReceipt], _ workflow: SaveWorkflow, in store: any Store
    ) throws -> [Int64] {
        let known = Set(receipts.compactMap(\.entry))
        var entries = known
        do {
            for receipt in receipts.count > 1 ? receipts : [] {
                guard let entry = receipt.entry else { continue }
                let later = try store.outbox(entity: receipt.entity, key: receipt.key).filter { $0.id > entry }
                entries.formUnion(later.map(\.id))
            }
        } catch {
            guard workflow.rollsBack else { return known.sorted() }
            throw StoreError(
                .io, "the edits are saved, but were not sent: \(error)", remedy: nextSteps(for: known.sorted()))
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
    ///
    /// - Throws: The reason why the push could not start or ended early. Under ``SaveWorkflow/acceptedOnly`` that is a
    ///   ``Result/failure``, as the edits are rolled back; it is thrown, with the entries, only if they could not be.
    func send(by pusher: any Pusher, in store: any Store, on thread: ImportThread) async throws -> Result {
        var outcomes: [Int64: EditOutcome]
        do {
            outcomes = try await pusher.push(entries)
        } catch {
            // Under the other workflows, what was not sent stays.
            guard workflow == .acceptedOnly else { throw error }
            return try await thread.run { try rollBack(after: error, in: store) }
        }
        // A pusher may leave edits to another push.
        let missing = entries.filter { outcomes[$0] == nil }
        if !missing.isEmpty {
            let read = try? await thread.run { try store.outcomes(of: missing) }
            for entry in missing { outcomes[entry] = read?[entry] ?? .waits(until: nil, nil) }
        }
        guard workflow.rollsBack else { return Result(outcomes: outcomes) }
        return try await thread.run { [outcomes] in rollBack(outcomes, in: store) }
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
