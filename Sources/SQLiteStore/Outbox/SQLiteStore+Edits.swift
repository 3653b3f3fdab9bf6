internal import GRDB
public import StoreContract
internal import StoreRules
internal import Mapping

extension SQLiteStore {
    /// Makes local edits and their outbox entries in one transaction, recorded as a run of kind `edit`.
    ///
    /// Waits up to 30 seconds for another process's page. Call it on a store that does not import at the same time.
    ///
    /// - Parameters:
    ///   - edits: Closures that return the edits; each receives the receipts of those before it.
    ///   - joining: Whether the edits may join pending edits of the same objects. If not, such edits are refused, so
    ///     that dropping these entries later affects only these edits.
    /// - Returns: One receipt per edit.
    /// - Throws: `StoreError`: `request` for an invalid edit, `busy` if another process is writing; and any error of
    ///   the closures. No edit is made then.
    public func edit(
        inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool
    ) throws -> [EditReceipt] {
        try changeRows("edit", "making local edits") { try $0.make(inTurn: edits, joining: joining) }.result
    }

    /// Writes rows in its own transaction, recorded as a run, and notifies observers.
    func changeRows<Result>(
        _ kind: String, _ action: String, undoes: Int64? = nil, _ body: (inout LocalEditor) throws -> Result
    ) throws -> (result: Result, run: Int64?) {
        try editing(action, isDurable: true) { db in
            do {
                try beginTransaction(db)
                try writers.refresh()
                let objects = try writers.objects
                objects.touched = []
                let result = try writers.changes.recording(kind, undoes: undoes) {
                    var editor = LocalEditor(try writers.editTables)
                    let result = try body(&editor)
                    objects.touched.formUnion(try writers.abandonedRemover.settle())
                    return result
                }
                try commitTransaction(db)
                noteCommit(of: Set(objects.touched.flatMap(model.family(of:))), db)
                return result
            } catch {
                takeBack(db)
                throw error
            }
        }
    }
}
