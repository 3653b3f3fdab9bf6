package import StoreContract

extension OutboxEntry {
    /// Returns the error for an entry that does not exist.
    package static func missing(_ id: Int64) -> StoreError {
        StoreError(.request, "edit \(id) is not waiting in the outbox", remedy: "`bmo outbox` lists the waiting edits")
    }

    /// Reads a stored entry; an error names it, and what to do with an entry that another program has damaged.
    package static func reading<Entry>(_ id: Int64, _ body: () throws -> Entry) throws -> Entry {
        do {
            return try body()
        } catch {
            throw StoreError(
                .internal, "edit \(id) in bmo_outbox cannot be read: \(error)",
                remedy: "`bmo outbox drop \(id)` discards it, unless it creates an object or is being sent, and "
                    + "`bmo sync --full` brings the remote's values; otherwise restore the database from a copy")
        }
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
