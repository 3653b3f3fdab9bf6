package import StoreContract

extension OutboxEntry {
    /// Returns the error for an entry that does not exist.
    package static func missing(_ id: Int64) -> StoreError {
        StoreError(.request, "edit \(id) is not waiting in the outbox", remedy: "`bmo outbox` lists the waiting edits")
    }

    /// Returns the error for an entry that cannot be tried again.
    ///
    /// - Parameter conflict: The conflict that must be decided first, if any.
    package func cannotRetry(_ conflict: EditConflict?) -> StoreError {
        guard state != .sending, let conflict else {
            return StoreError(.request, "edit \(id) is being sent", remedy: "wait for `bmo push` to end, or run it")
        }
        return StoreError(
            .request, "edit \(id) has an unresolved conflict of \(conflict.column ?? "the whole object")",
            remedy: "`bmo resolve \(entity) KEY --take local` or `--take remote`")
    }
}
