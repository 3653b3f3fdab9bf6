internal import GRDB
internal import StoreContract
internal import StoreRules
internal import Mapping

extension SQLiteStore {
    /// Reverts a run, in one transaction that is recorded as a run of its own.
    ///
    /// Rows that the run inserted are deleted, or become stubs if others refer to them; columns and links get their old
    /// values; deleted rows are restored. The positions and cursors of the scans that provided them are forgotten, so
    /// the next sync imports the remote's state.
    ///
    /// - Parameter id: The run's ID.
    /// - Returns: The ID of the run that records the undo.
    /// - Throws: `UndoRefusal` if other runs or programs have changed the same rows since; `StoreError`.
    public func undo(run id: Int64) throws -> Int64 {
        let run = try runForUndo(id)
        if run.kind == "edit" { return try undoEdits(of: run) }
        return try SQLiteStore.translating("undoing run \(id)") {
            try writer.writeWithoutTransaction { db in
                let writers = try writers
                writers.changes.begin(RunDescription(kind: "undo", started: Clock.now(), undoes: run.id))
                writers.changes.source = nil
                var undone: Int64?
                do {
                    try beginTransaction(db)
                    try writers.refresh()
                    try writers.changes.runID()
                    writers.objects.touched = []
                    var undo = try Undo(run: id, writers.objects, SQLiteUndoTables(model, in: db))
                    try undo.apply()
                    writers.objects.touched.formUnion(try writers.abandonedRemover.settle())
                    undone = try writers.changes.end(outcome: "finished", summary: nil)
                    try commitTransaction(db)
                    noteCommit(of: Set(writers.objects.touched.flatMap(model.family(of:))), db)
                } catch {
                    writers.changes.abandon()
                    takeBack(db)
                    throw error
                }
                return undone ?? 0
            }
        }
    }

    /// Reverts a run of local edits that were not pushed yet, and updates the outbox accordingly.
    ///
    /// - Throws: ``UndoRefusal`` if the rows have changed since; ``StoreError`` if an edit was sent.
    private func undoEdits(of run: RunRecord) throws -> Int64 {
        var changes: [RowChange] = []
        try self.changes(of: run.id) { changes.append($0) }
        let earlier = try earlierEdits(of: changes, than: run.id)
        let undone = try changeRows("undo", "undoing run \(run.id)", undoes: run.id) { editor in
            try editor.undo(changes, of: run.id, earlier: earlier)
        }
        guard let id = undone.run else { throw StoreError(.internal, "run \(run.id) had nothing to undo") }
        return id
    }

    /// Returns the columns not created by bmo, as `Entity.column`, in whose tables an undo of a run restores deleted
    /// rows.
    ///
    /// The history does not have their values, so they are null in these rows afterwards.
    ///
    /// - Throws: `StoreError`.
    public func columnsWithoutHistory(undoing id: Int64) throws -> [String] {
        try read("reading the tables") { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT entity FROM bmo_changes
                    WHERE run = ? AND change = 'deleted' AND new IS NULL ORDER BY entity
                    """, arguments: [id])
            let made = try ManagedTables(in: db)
            return try tables.filter { try db.tableExists($0) }.flatMap { table -> [String] in
                // A generated column has its value again at once.
                let known = try GeneratedColumns(of: table, in: db).names
                let others = try db.columns(in: table).map(\.name).filter { !made.has($0, in: table) }
                return others.filter { !known.contains($0) }.map { "\(table).\($0)" }
            }
        }
    }

    private func runForUndo(_ id: Int64) throws -> RunRecord {
        guard let run = try runs(id: id).first else { throw RunRecord.missing(id) }
        let undoneKind = try run.undoes.flatMap { try runs(id: $0).first?.kind }
        let undoneBy = try read("reading the runs") { db in try LaterRuns(than: id, in: db).undoneBy }
        let migrations = try read("reading the runs") { db in
            try Row.fetchAll(
                db, sql: "SELECT id, summary FROM bmo_runs WHERE kind = 'migrate' AND id > ? ORDER BY id DESC",
                arguments: [id])
        }
        let forgottenBy = migrations.map { row in
            RunRecord(id: row["id"], kind: "migrate", started: "", outcome: "", summary: row["summary"])
        }.first { $0.hasForgotten(id) }?.id
        try run.checkUndo(undoneKind: undoneKind, undoneBy: undoneBy, forgottenBy: forgottenBy)
        return run
    }
}
