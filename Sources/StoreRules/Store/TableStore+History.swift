package import Mapping
package import Model
package import StoreContract

/// The runs and what each changed.
extension TableStore {
    /// Begins a run; earlier runs that are still open are marked as killed.
    package func beginRun(kind: String) throws {
        let isPush = kind == "push"
        let hasOld =
            try readOnce { try $0.hasOpenRuns(pushes: isPush) }
            || !isPush && readOnce { try $0.newestAcknowledged() } > 0
        if hasOld {
            try keepBooks { tables in
                try tables.closeDeadRuns(pushes: isPush)
                // A process that begins a scan holds the lock, so that no scan that began before is in progress.
                if !isPush { try tables.forgetAcknowledged() }
            }
        }
        run = RunState(RunDescription(kind: kind, started: Clock.now()), entityCount: model.entities.count)
    }

    /// Ends the run, saves its outcome, and deletes runs that are too old.
    @discardableResult
    package func endRun(
        outcome: String, summary: String?, always: Bool, keeping retention: HistoryRetention
    ) throws -> Int64? {
        guard always || run.id != nil else {
            run = RunState()
            return nil
        }
        return try transaction { writer, tables in
            let id = try writer.runID()
            try tables.finishRun(id, outcome: outcome, summary: writer.run.complete(summary))
            writer.run = RunState()
            try tables.forgetRuns(olderThan: retention)
            return id
        }
    }

    /// Returns the runs that are kept, newest first.
    package func runs(id: Int64?, limit: Int?) throws -> [RunRecord] {
        var (runs, counts) = try read { tables in
            let runs = try tables.runs(id.map { [$0] }, limit: limit)
            return (runs, try tables.changeCounts(of: runs.map(\.id)))
        }
        for index in runs.indices {
            runs[index].counts = counts[runs[index].id] ?? RunRecord.Counts()
            guard runs[index].outcome == "running" else { continue }
            // A live run holds a lock.
            let isLive = try isLocked(for: runs[index].kind == "push" ? .pushing : .writing)
            if !isLive { runs[index].outcome = "killed" }
        }
        return runs
    }

    /// Returns the ID of the newest run that changed rows.
    package func lastRunWithChanges() throws -> Int64? { try read { try $0.lastRunWithChanges() } }

    /// Calls `body` with a run's change of each row, by entity and key.
    package func changes(of run: Int64, entity: String?, _ body: (RowChange) throws -> Void) throws {
        let changes = try read { tables in
            var lists = WholeLists(model) { [tables] _, table, owner in
                try tables.links(table, of: owner.key)
            } later: { [tables] record in
                try tables.changes(after: record)
            } hasLaterLinks: { [tables] entity, id in
                try tables.hasLinkChanges(of: entity, after: id)
            }
            let records = try tables.changes(ofRun: run, after: 0, limit: nil)
                .filter { entity == nil || $0.entity == entity }
            var changes: [RowChange] = []
            for group in ChangeRecord.grouped(records) {
                guard let first = group.first, let last = group.last else { continue }
                if first.change == .loaded {
                    var change = RowChange(load: first)
                    change.count = try model.index(of: first.entity).map { try tables.count(of: $0) } ?? 0
                    changes.append(change)
                } else if var change = RowChange(group, model) {
                    if !change.links.isEmpty { try lists.complete(&change, after: last) }
                    changes.append(change)
                }
            }
            return changes
        }
        for change in changes { try body(change) }
    }

    /// Returns the ID of the newest recorded change.
    package func newestChange() throws -> Int64 { try read { $0.lastChange } }

    /// Returns what this store's run changed after a recorded change, row by row.
    package func changes(after number: Int64, limit: Int) throws -> [RowChange] {
        guard let run = run.id else { return [] }
        let records = try read { try $0.changes(ofRun: run, after: number, limit: limit) }
        return ChangeRecord.grouped(records).compactMap { group in
            group.first?.change == .loaded ? nil : RowChange(group, model)
        }
    }

    /// Returns the sources and changes of a row.
    package func history(of entity: Int, key: [StoredValue]) throws -> RowHistory {
        try read { tables in
            let layout = model.entities[entity]
            let root = model.entities[layout.root]
            let records = try tables.changes(of: root.name, key: JSONText.key(key).string)
            let runs = try tables.runs(Array(Set(records.map(\.run))), limit: nil)
            var history = RowHistory(
                entity: layout.name, key: key, isStub: try tables.isStub(root.index, key), isListed: true, groups: [],
                events: RowHistory.events(records, of: runs.reversed(), model), quarantined: [])
            if let row = try tables.row(root.index, key), layout.contains(row) {
                history.values = layout.columnPlaces.map { row[$0] }
            }
            history.addSources(try tables.provenance(root.index, key), layout, in: model)
            return history
        }
    }
}
