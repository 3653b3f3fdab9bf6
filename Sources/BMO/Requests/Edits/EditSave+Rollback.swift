internal import StoreContract

/// The rollback of edits whose push has ended, or has failed.
extension EditSave {
    /// Few tries: the transactions of the store have tries of their own.
    private static let retry = TransientRetry(tries: 3, firstPause: 200)

    /// Rolls back what the workflow does not keep.
    ///
    /// - Parameter outcomes: The outcomes of the push.
    func rollBack(_ outcomes: [Int64: EditOutcome], in store: any Store) -> Result {
        do {
            let left = try Self.retry.run { try entries.compactMap { try store.outboxEntry($0) } }
            let rollback = SaveRollback(workflow, left: left, after: outcomes)
            if !rollback.entries.isEmpty { try store.dropOutbox(rollback.entries) }
            return Result(
                outcomes: outcomes.merging(rollback.outcomes) { $1 }, rolledBack: Set(rollback.entries))
        } catch {
            // The remote's message matters more: the edits stay, with a note on the failed rollback.
            let words = "it stays in the outbox, because it could not be rolled back: \(error)"
            let kept = entries.filter { outcomes[$0]?.kind != .sent }
            return Result(
                outcomes: outcomes.mapValues { $0.isRejected ? $0.adding(remedy: words) : $0 },
                fault: kept.isEmpty ? nil : notRolledBack(kept, error))
        }
    }

    /// Rolls back the edits of a push that failed, as far as it is certain that the remote did not receive them.
    ///
    /// The outbox is certain: an edit is marked there, in a transaction of its own, before it is sent.
    ///
    /// - Throws: ``StoreError`` that names the entries, if they could not be rolled back.
    func rollBack(after failure: any Error, in store: any Store) throws -> Result {
        let reason = OutboxFailure(code: SyncFailure.code(of: failure), message: "\(failure)")
        do {
            return try Self.retry.run {
                let left = try entries.compactMap { try store.outboxEntry($0) }
                var outcomes: [Int64: EditOutcome] = [:]
                for entry in left { outcomes[entry.id] = entry.outcome(ofPushThatFailed: reason) }
                // Read before the rollback, after which nothing may fail.
                outcomes.merge(try store.outcomes(of: entries.filter { outcomes[$0] == nil })) { $1 }
                let rollback = SaveRollback(workflow, left: left, after: outcomes)
                if !rollback.entries.isEmpty { try store.dropOutbox(rollback.entries) }
                return Result(
                    outcomes: outcomes.merging(rollback.outcomes) { $1 }, rolledBack: Set(rollback.entries),
                    failure: failure)
            }
        } catch {
            throw notRolledBack(entries, error, after: failure)
        }
    }

    /// Returns the error for edits that could not be rolled back.
    ///
    /// - Parameters:
    ///   - cause: Why they could not be rolled back.
    ///   - failure: Why their push failed; nil if it did not.
    private func notRolledBack(
        _ entries: [Int64], _ cause: any Error, after failure: (any Error)? = nil
    ) -> StoreError {
        let isOne = entries.count == 1
        let mayBeGone = (cause as? StoreError)?.mayHaveCommitted == true
        var words =
            mayBeGone
            ? "it is unknown whether the \(isOne ? "edit was" : "edits were") rolled back: \(cause)"
            : "the \(isOne ? "edit" : "edits") could not be rolled back: \(cause)"
        // Most often it is the same, as the database cannot be reached.
        if let failure, "\(failure)" != "\(cause)" { words = "\(failure); \(words)" }
        let steps = Self.nextSteps(for: entries)
        return StoreError(
            (failure as? StoreError ?? cause as? StoreError)?.code ?? .io, words,
            remedy: mayBeGone ? "if `bmo outbox` still lists \(isOne ? "it" : "them"), \(steps)" : steps)
    }

    /// Returns what the user can do about edits that stay.
    static func nextSteps(for entries: [Int64]) -> String {
        let numbers = entries.map(String.init)
        let (they, them) = entries.count == 1 ? ("it stays", "it") : ("they stay", "them")
        return "\(they) as outbox \(numbers.joined(separator: ", ")): `bmo push` sends \(them), "
            + "`bmo outbox drop \(numbers.joined(separator: " "))` rolls \(them) back"
    }
}

extension OutboxEntry {
    /// Returns the outcome of a push that failed: an edit that is marked as being sent may have arrived.
    fileprivate func outcome(ofPushThatFailed reason: OutboxFailure) -> EditOutcome {
        switch state {
        case .sending: .unknown(sent: notBefore, reason)
        case .pending: .waits(until: notBefore, failure ?? reason)
        case .unknown, .refused, .conflict: outcome
        }
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
