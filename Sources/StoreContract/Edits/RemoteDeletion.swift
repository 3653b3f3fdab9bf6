package import Model

/// What happens to an object that the remote no longer has, and that has local edits.
package enum RemoteDeletion: Equatable {
    /// The row is deleted; a pending delete is done if it is at rest.
    case deletesRow(confirmsDelete: Bool)
    /// The row stays: it is new, or the remote accepted an edit of it after the scan began.
    case keepsRow
    /// The edits are dropped, and the row is deleted.
    case dropsEdits
    /// The row stays, and its edits become a create.
    case becomesCreate
    /// The row stays until a person decides.
    case isConflict

    /// Decides.
    ///
    /// - Parameters:
    ///   - entries: The object's entries, in order.
    ///   - accepted: The edits of the object that the remote accepted since the scan began, in order.
    ///   - policy: The entity's conflict policy.
    package init(of entries: [OutboxEntry], since accepted: [OutboxEntry], _ policy: ConflictPolicy) {
        // The object existed after the scan that lacks it began.
        if let last = accepted.last, last.operation != .delete {
            self = .keepsRow
        } else if let first = entries.first, let last = entries.last {
            if first.operation == .create {
                self = .keepsRow
            } else if last.operation == .delete {
                self = .deletesRow(confirmsDelete: last.isAtRest)
            } else if entries.allSatisfy(\.isAtRest), policy == .remote {
                self = .dropsEdits
            } else if entries.allSatisfy(\.isAtRest), policy == .local {
                self = .becomesCreate
            } else {
                self = .isConflict
            }
        } else {
            self = .deletesRow(confirmsDelete: false)
        }
    }
}
