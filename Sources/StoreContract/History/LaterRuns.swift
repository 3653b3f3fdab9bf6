/// The runs after a run that are still in effect: a run that was undone and its undo cancel each other out.
package struct LaterRuns {
    /// The later runs without effect.
    package let cancelled: Set<Int64>
    /// The run that undid this run, if it is still in effect.
    package let undoneBy: Int64?

    /// Finds the runs in effect.
    ///
    /// - Parameters:
    ///   - run: The run.
    ///   - undos: All later runs that undid another, with the undone run, newest first.
    package init(than run: Int64, undos: [(id: Int64, undoes: Int64)]) {
        var cancelled: Set<Int64> = []
        var undoneBy: Int64?
        for (id, undone) in undos where !cancelled.contains(id) {
            if undone == run {
                undoneBy = undoneBy ?? id
            } else if undone > run {
                cancelled.formUnion([id, undone])
            }
        }
        self.cancelled = cancelled
        self.undoneBy = undoneBy
    }
}

extension RunRecord {
    /// Checks that the run can be undone.
    ///
    /// - Parameters:
    ///   - undoneKind: The kind of the run that it undid, if it undid one.
    ///   - undoneBy: The run that undid it, if that is still in effect.
    ///   - forgottenBy: The migration that deleted some of its changes, if there is one.
    /// - Throws: ``StoreError`` of the code `request` if it cannot.
    package func checkUndo(undoneKind: String?, undoneBy: Int64?, forgottenBy: Int64? = nil) throws {
        if let forgottenBy {
            throw StoreError(
                .request, "run \(id) cannot be undone: run \(forgottenBy), a migration, deleted changes of it",
                remedy: "only the copy of the database that the migration made has them")
        }
        guard counts.total > 0 else {
            throw StoreError(
                .request, "run \(id) changed nothing that is still recorded, so there is nothing to undo",
                remedy: "`bmo runs` lists those with changes")
        }
        guard !["push", "drop", "resolve"].contains(kind), undoneKind != "edit" else {
            throw StoreError(
                .request,
                "run \(id) is \(kind == "undo" ? "an" : "a") \(kind) of local edits, which the remote may have received",
                remedy: "make the opposite edit")
        }
        if let undoneBy {
            throw StoreError(
                .request, "run \(id) was already undone by run \(undoneBy)",
                remedy: kind == "edit" ? "make the edit again" : "`bmo undo \(undoneBy)` reverts that")
        }
    }
}
