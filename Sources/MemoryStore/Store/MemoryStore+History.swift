public import Mapping
public import Model
public import StoreContract
internal import StoreRules

/// The runs and what each changed.
extension MemoryStore {
    /// Begins a run; earlier runs that are still open are marked as killed.
    public func beginRun(kind: String) throws {
        let isPush = kind == "push"
        let state = try snapshot()
        let hasDead = state.runs.contains { $0.outcome == "running" && ($0.kind == "push") == isPush }
        if hasDead || (!isPush && !state.acknowledged.isEmpty) {
            try keepBooks { tables in
                tables.closeDeadRuns(pushes: isPush)
                // A process that begins a scan holds the lock, so that no scan that began before is in progress.
                if !isPush { tables.state.acknowledged = [] }
            }
        }
        run = RunState(RunDescription(kind: kind, started: Clock.now()), entityCount: model.entities.count)
    }

    /// Ends the run, saves its outcome, and deletes runs that are too old.
    @discardableResult
    public func endRun(
        outcome: String, summary: String?, always: Bool, keeping retention: HistoryRetention
    ) throws -> Int64? {
        guard always || run.id != nil else {
            run = RunState()
            return nil
        }
        return try write { writer in
            let id = try writer.runID()
            try writer.tables.finishRun(id, outcome: outcome, summary: writer.run.complete(summary))
            writer.run = RunState()
            (writer.tables as? MemoryTables)?.forgetRuns(olderThan: retention)
            return id
        }
    }

    /// Returns the runs that are kept, newest first.
    public func runs(id: Int64?, limit: Int?) throws -> [RunRecord] {
        let state = try snapshot()
        let runs = state.runs.reversed().filter { id == nil || $0.id == id }.prefix(limit ?? .max)
        return runs.map { run in
            var run = run
            // A live run holds a lock.
            let slot = run.kind == "push" ? database.pushing : database.writing
            if run.outcome == "running", slot.isFree { run.outcome = "killed" }
            for change in state.changes where change.run == run.id { run.counts.add(change.change.rawValue, 1) }
            return run
        }
    }

    /// Returns the ID of the newest run that changed rows.
    public func lastRunWithChanges() throws -> Int64? { try snapshot().changes.map(\.run).max() }

    /// Calls `body` with a run's change of each row, by entity and key.
    public func changes(of run: Int64, entity: String?, _ body: (RowChange) throws -> Void) throws {
        let tables = try read()
        var lists = WholeLists(model) { [tables] _, table, owner in
            tables.links(table, of: owner.key)
        } later: { [tables] record in
            tables.state.changes.reversed().filter {
                $0.id > record.id && $0.isSameRow(as: record)
            }
        } hasLaterLinks: { [tables] entity, id in
            tables.state.changes.contains { $0.entity == entity && $0.id > id && $0.change == .relinked }
        }
        let records = tables.changes(ofRun: run).filter { entity == nil || $0.entity == entity }
        for group in ChangeRecord.grouped(records) {
            guard let first = group.first, let last = group.last else { continue }
            if first.change == .loaded {
                var change = RowChange(load: first)
                change.count = model.index(of: first.entity).map { tables.table($0)?.rows.count ?? 0 }
                try body(change)
            } else if var change = RowChange(group, model) {
                if !change.links.isEmpty { try lists.complete(&change, after: last) }
                try body(change)
            }
        }
    }

    /// Returns the ID of the newest recorded change.
    public func newestChange() throws -> Int64 { try snapshot().lastChange }

    /// Returns what this store's run changed after a recorded change, row by row.
    public func changes(after number: Int64, limit: Int) throws -> [RowChange] {
        guard let run = run.id else { return [] }
        let records = try read().changes(ofRun: run).filter { $0.id > number }.prefix(limit)
        return ChangeRecord.grouped(Array(records)).compactMap { group in
            group.first?.change == .loaded ? nil : RowChange(group, model)
        }
    }

    /// Returns the sources and changes of a row.
    public func history(of entity: Int, key: [StoredValue]) throws -> RowHistory {
        let tables = try read()
        let layout = model.entities[entity]
        let root = model.entities[layout.root]
        let text = JSONText.key(key).string
        let records = tables.state.changes.filter { $0.entity == root.name && ($0.key == nil || $0.hasKey(text)) }
        var history = RowHistory(
            entity: layout.name, key: key, isStub: tables.isStub(root.index, key), isListed: true, groups: [],
            events: RowHistory.events(records, of: tables.state.runs, model), quarantined: [])
        if let row = tables.row(root.index, key), try RowFilter(layout).contains(row) {
            history.values = fields(of: layout).map { row[$0] }
        }
        history.addSources(tables.provenance(root.index, key), layout, in: model)
        return history
    }

    // MARK: - Undo

    /// Reverts a run, in one transaction that is recorded as a run of its own.
    public func undo(run id: Int64) throws -> Int64 {
        guard let run = try runs(id: id).first else { throw RunRecord.missing(id) }
        let undone = try run.undoes.flatMap { try runs(id: $0).first?.kind }
        try run.checkUndo(
            undoneKind: undone, undoneBy: try read().laterRuns(than: id).undoneBy)
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
        try self.changes(of: run.id) { changes.append($0) }
        let id = try changeRows("undo", undoes: run.id) { try $0.undo(changes, of: run.id) }.run
        guard let id else { throw StoreError(.internal, "run \(run.id) had nothing to undo") }
        return id
    }

    /// Returns no columns: other programs cannot add any.
    public func columnsWithoutHistory(undoing id: Int64) throws -> [String] {
        _ = try snapshot()
        return []
    }
}

extension MemoryTables {
    /// Deletes the runs that are too old; the newest is always kept.
    fileprivate func forgetRuns(olderThan retention: HistoryRetention) {
        let kept: Int64?
        switch retention {
        case .forever: return
        case .runs(let count): kept = state.runs.suffix(count).first?.id
        case .seconds(let seconds):
            let start = Clock.text(secondsAgo: seconds)
            kept = state.runs.first { $0.started >= start }?.id
        }
        guard let first = kept ?? state.runs.last?.id else { return }
        state.runs.removeAll { $0.id < first }
        state.changes.removeAll { $0.run < first }
    }
}
