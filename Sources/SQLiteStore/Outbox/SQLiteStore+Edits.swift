internal import GRDB
internal import Importer
internal import Mapping

extension SQLiteStore {
    /// Makes local edits and their outbox entries in one transaction, recorded as a run of the kind `edit`.
    ///
    /// Waits up to 30 seconds for a page that another process writes. Call it on a store that imports nothing meanwhile.
    ///
    /// - Parameter joining: Whether they may join edits of the same objects that wait. Where not, that is refused: what
    ///   is dropped afterwards is these alone.
    /// - Returns: A receipt per edit.
    /// - Throws: ``StoreError``: `request` for an edit that cannot be, `busy` when another process writes. Then none of
    ///   them is made.
    public func edit(_ edits: [LocalEdit], joining: Bool = true) throws -> [EditReceipt] {
        try edit(inTurn: edits.map { edit in { _ in edit } }, joining: joining)
    }

    /// Makes local edits as ``edit(_:)`` does, where later ones need the keys that earlier ones were given.
    ///
    /// - Parameter edits: Each gets the receipts of those before it.
    /// - Throws: ``StoreError``; what the closures throw. Then none of them is made.
    package func edit(
        inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool = true
    ) throws -> [EditReceipt] {
        try changeRows("edit", "making local edits") { editor in
            editor.joinsOnlyAfter = joining ? nil : try editor.outbox.newest()
            defer { editor.joinsOnlyAfter = nil }
            var receipts: [EditReceipt] = []
            for edit in edits { receipts.append(try editor.make(try edit(receipts))) }
            return receipts
        }.result
    }

    /// Writes rows in a transaction of its own, recorded as a run, and tells observers.
    func changeRows<Result>(
        _ kind: String, _ action: String, undoes: Int64? = nil, _ body: (LocalEditor) throws -> Result
    ) throws -> (result: Result, run: Int64?) {
        try editing(action, isDurable: true) { db in
            do {
                try beginTransaction(db)
                try writers.refresh()
                let editor = try writers.localEditor
                editor.touched = []
                let result = try writers.changes.recording(kind, undoes: undoes) { try body(editor) }
                try commitTransaction(db)
                if !isRehearsal {
                    watcherInUse?.committed(
                        Set(editor.touched.flatMap(model.family(of:))), at: totalChanges(db))
                }
                return result
            } catch {
                takeBack(db)
                throw error
            }
        }
    }
}
