internal import StoreContract

/// The edits of a save that are rolled back after its push, and what the rollback changes in their outcomes.
///
/// A pure rule. It never rolls back an edit that the remote may have received, such as one whose outcome is unknown.
struct SaveRollback: Sendable, Equatable {
    /// The numbers of the entries to drop.
    private(set) var entries: [Int64] = []
    /// The outcomes that differ because of it.
    private(set) var outcomes: [Int64: EditOutcome] = [:]

    /// Decides which edits are rolled back.
    ///
    /// - Parameters:
    ///   - workflow: The save's workflow.
    ///   - left: The save's entries that are still in the outbox, in their order.
    ///   - sent: The outcomes of the push.
    init(_ workflow: SaveWorkflow, left: [OutboxEntry], after sent: [Int64: EditOutcome]) {
        guard workflow.rollsBack else { return }
        var lost: [OutboxEntry] = []
        for entry in left {
            guard !entry.mayHaveArrived else { continue }
            let outcome = sent[entry.id] ?? entry.outcome
            switch entry.state {
            case .sending, .unknown: continue
            case .refused, .conflict:
                guard outcome.isRejected || workflow == .acceptedOnly else { continue }
            case .pending:
                if let cause = lost.first(where: entry.buildsUpon) {
                    outcomes[entry.id] = .refused(
                        OutboxFailure(
                            code: "depends", message: "it depends on edit \(cause.id), which the remote did not accept")
                    )
                } else if workflow == .acceptedOnly {
                    outcomes[entry.id] = .dropped(outcome.failure)
                } else {
                    continue
                }
            }
            lost.append(entry)
        }
        entries = lost.map(\.id)
    }
}

extension SaveWorkflow {
    /// Whether edits that the remote does not accept are rolled back.
    var rollsBack: Bool {
        switch self {
        case .rollBack, .afterRemote, .acceptedOnly: true
        case .localFirst, .localOnly: false
        }
    }
}

extension OutboxEntry {
    /// Returns whether the entry cannot be sent without another: it refers to the object that the other creates, or is a
    /// later edit of the same object.
    fileprivate func buildsUpon(_ other: OutboxEntry) -> Bool {
        dependsOn.contains(other.id) || entity == other.entity && key == other.key
    }
}
