internal import Mapping
internal import StoreContract

/// The undo of a run.
extension TableStore {
    /// Reverts a run, in one transaction that is recorded as a run of its own.
    package func undo(run id: Int64) throws -> Int64 {
        guard let run = try runs(id: id, limit: nil).first else { throw RunRecord.missing(id) }
        let undone = try run.undoes.flatMap { try runs(id: $0, limit: nil).first?.kind }
        let (later, newer) = try read { tables in
            // Not all runs of a long history, with their summaries.
            let newest = try tables.runs(nil, limit: 1).first?.id ?? id
            return (try tables.laterRuns(than: id), try tables.runs(nil, limit: Int(newest - id)))
        }
        let migration = newer.first { $0.id > id && $0.hasForgotten(id) }
        try run.checkUndo(undoneKind: undone, undoneBy: later.undoneBy, forgottenBy: migration?.id)
        if run.kind == "edit" { return try undoEdits(of: run) }
        return try write { writer in
            writer.run = RunState(
                RunDescription(kind: "undo", started: Clock.now(), undoes: id), entityCount: model.entities.count)
            let undone = try writer.runID()
            var undo = try Undo(run: id, writer, writer.tables)
            try undo.apply()
            try writer.settle()
            try writer.tables.finishRun(undone, outcome: "finished", summary: writer.run.droppedText)
            writer.run = RunState()
            return undone
        }
    }

    private func undoEdits(of run: RunRecord) throws -> Int64 {
        var changes: [RowChange] = []
        try self.changes(of: run.id, entity: nil) { changes.append($0) }
        let earlier = try earlierEdits(of: changes, than: run.id)
        let id = try changeRows("undo", undoes: run.id) { try $0.undo(changes, of: run.id, earlier: earlier) }.run
        guard let id else { throw StoreError(.internal, "run \(run.id) had nothing to undo") }
        return id
    }

    /// Returns no columns: bmo does not read columns that other programs add.
    package func columnsWithoutHistory(undoing id: Int64) throws -> [String] { try read { _ in [] } }
}
