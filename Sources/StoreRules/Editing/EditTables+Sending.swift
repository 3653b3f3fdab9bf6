internal import Mapping
package import StoreContract

/// The steps of an entry on its way to the remote, each in a transaction of its own.
extension EditTables {
    /// Records that an entry is about to be sent; see `OutboxStore.markSending`.
    package func markSending(_ id: Int64) throws -> OutboxEntry? {
        guard let entry = try outbox.entry(id)?.after(.sent(at: Clock.now())) else { return nil }
        try outbox.update(entry)
        return entry
    }

    /// Records the outcome of an entry that was not acknowledged; does nothing if the entry is gone.
    package func settle(_ id: Int64, _ outcome: EditOutcome) throws {
        guard let entry = try outbox.entry(id) else { return }
        let conflict = try conflicts.firstConflict(of: entry, in: model)
        if let settled = entry.after(.settled(outcome), hasConflicts: conflict != nil) { try outbox.update(settled) }
    }

    /// Marks those of the entries that are still being sent as `unknown`, and returns them.
    package func recoverSending(_ entries: [OutboxEntry]) throws -> [OutboxEntry] {
        let recovered = try entries.compactMap { try outbox.entry($0.id)?.after(.senderEnded) }
        for entry in recovered { try outbox.update(entry) }
        return recovered
    }

    /// Makes entries due now; see `EditStore.retryOutbox`.
    package func retry(_ ids: [Int64], sendingUnknown: Bool) throws {
        for id in ids {
            guard let entry = try outbox.entry(id) else { throw OutboxEntry.missing(id) }
            let conflict = try conflicts.firstConflict(of: entry, in: model)
            let retried = entry.after(
                .retried(sendingUnknown: sendingUnknown, newKey: RandomUUID.text()), hasConflicts: conflict != nil)
            guard let retried else { throw entry.cannotRetry(conflict) }
            try outbox.update(retried)
        }
    }
}

extension LocalEditor {
    /// Makes edits one after the other; each closure receives the receipts of those before it.
    package mutating func make(
        inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool
    ) throws -> [EditReceipt] {
        if !joining { joinsOnlyAfter = try newestEntry() }
        var receipts: [EditReceipt] = []
        for edit in edits { receipts.append(try make(try edit(receipts))) }
        return receipts
    }
}
