package import StoreContract

extension RunRecord {
    /// Checks that a run may be undone.
    ///
    /// - Parameters:
    ///   - undoneKind: The kind of the run that this one undid; nil if it is not an undo.
    ///   - undoneBy: The run that undid this one, if it is still in effect.
    /// - Throws: ``StoreError`` of the code `request` otherwise.
    package func checkUndo(undoneKind: String?, undoneBy: Int64?) throws {
        guard counts.total > 0 else {
            throw StoreError(
                .request, "run \(id) changed nothing that is still known, so there is nothing to undo",
                remedy: "`bmo runs` lists those with changes")
        }
        guard !["push", "drop", "resolve"].contains(kind), undoneKind != "edit" else {
            throw StoreError(
                .request, "run \(id) is a \(kind) of local edits, which the remote may know of",
                remedy: "make the opposite edit")
        }
        if let undoneBy {
            throw StoreError(
                .request, "run \(id) is undone already, by run \(undoneBy)",
                remedy: "`bmo undo \(undoneBy)` takes that back")
        }
    }

    /// Returns the error for a run that does not exist.
    package static func missing(_ id: Int64) -> StoreError {
        StoreError(.request, "there is no run \(id)", remedy: "`bmo runs` lists those that are kept")
    }
}
