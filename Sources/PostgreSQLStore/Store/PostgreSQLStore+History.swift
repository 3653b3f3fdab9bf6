public import Mapping
public import Model
public import StoreContract
internal import StoreRules

/// The runs and what each changed.
extension PostgreSQLStore {
    /// Begins a run; earlier runs that are still open are marked as killed.
    public func beginRun(kind: String) throws {
        let isPush = kind == "push"
        let (hasDead, hasAccepted) = try read { tables in
            let dead = try tables.runs(
                where: "outcome = 'running' AND (kind = 'push') = $1::boolean", [.boolean(isPush)], limit: 1)
            return (!dead.isEmpty, tables.counters.hasAcknowledged)
        }
        if hasDead || (!isPush && hasAccepted) {
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
            try (writer.tables as? PostgreSQLTables)?.forgetRuns(olderThan: retention)
            return id
        }
    }

    /// Returns the runs that are kept, newest first.
    public func runs(id: Int64?, limit: Int?) throws -> [RunRecord] {
        var (runs, counts) = try read { tables in
            let runs = try tables.runs(where: "$1::bigint IS NULL OR id = $1", [.bigint(id)], limit: limit)
            return (runs, try tables.changeCounts(of: runs.map(\.id)))
        }
        for index in runs.indices where runs[index].outcome == "running" {
            // A live run holds a lock.
            let isLive = try isLocked(for: runs[index].kind == "push" ? .pushing : .writing)
            if !isLive { runs[index].outcome = "killed" }
        }
        for index in runs.indices { runs[index].counts = counts[runs[index].id] ?? RunRecord.Counts() }
        return runs
    }

    /// Returns whether any process holds a lock of the database.
    func isLocked(for purpose: LockPurpose) throws -> Bool {
        try read { try SessionLock.holder(of: purpose, over: $0.connection) } != nil
    }

    /// Returns the ID of the newest run that changed rows.
    public func lastRunWithChanges() throws -> Int64? {
        try read { tables in
            try tables.connection.query(
                "SELECT max(run) FROM \(sql.own("bmo_changes"))", for: "reading recorded changes"
            ).bigint(0, 0)
        }
    }

    /// Calls `body` with a run's change of each row, by entity and key.
    public func changes(of run: Int64, entity: String?, _ body: (RowChange) throws -> Void) throws {
        let changes = try read { tables in
            var lists = WholeLists(model) { [tables] _, table, owner in
                try tables.links(table, of: owner.key)
            } later: { [tables] record in
                try tables.changes(
                    where: "entity = $1::text AND key = $2::text AND id > $3::bigint",
                    [.text(record.entity), .text(record.key), .bigint(record.id)], order: "id DESC")
            } hasLaterLinks: { [tables] entity, id in
                try !tables.changes(
                    where: "entity = $1::text AND id > $2::bigint AND change = 'relinked'",
                    [.text(entity), .bigint(id)], order: "id LIMIT 1"
                ).isEmpty
            }
            let records = try tables.changes(ofRun: run).filter { entity == nil || $0.entity == entity }
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
    public func newestChange() throws -> Int64 { try read { $0.counters.lastChange } }

    /// Returns what this store's run changed after a recorded change, row by row.
    public func changes(after number: Int64, limit: Int) throws -> [RowChange] {
        guard let run = run.id else { return [] }
        let records = try read { tables in
            try tables.changes(
                where: "run = $1::bigint AND id > $2::bigint", [.bigint(run), .bigint(number)],
                order: "id LIMIT \(limit)")
        }
        return ChangeRecord.grouped(records).compactMap { group in
            group.first?.change == .loaded ? nil : RowChange(group, model)
        }
    }

    /// Returns the sources and changes of a row.
    public func history(of entity: Int, key: [StoredValue]) throws -> RowHistory {
        try read { tables in
            let layout = model.entities[entity]
            let root = model.entities[layout.root]
            let records = try tables.changes(
                where: "entity = $1::text AND (key = $2::text OR key IS NULL)",
                [.text(root.name), .text(JSONText.key(key).string)])
            let runs = try tables.runs(
                where: "id = ANY($1::bigint[])", [.bigints(Array(Set(records.map(\.run))))])
            var history = RowHistory(
                entity: layout.name, key: key, isStub: try tables.isStub(root.index, key), isListed: true, groups: [],
                events: RowHistory.events(records, of: runs.reversed(), model), quarantined: [])
            if let row = try tables.row(root.index, key), layout.contains(row) {
                history.values = fields(of: layout).map { row[$0] }
            }
            history.addSources(try tables.provenance(root.index, key), layout, in: model)
            return history
        }
    }

    // MARK: - Undo

    /// Reverts a run, in one transaction that is recorded as a run of its own.
    public func undo(run id: Int64) throws -> Int64 {
        guard let run = try runs(id: id).first else { throw RunRecord.missing(id) }
        let undone = try run.undoes.flatMap { try runs(id: $0).first?.kind }
        try run.checkUndo(
            undoneKind: undone, undoneBy: try read { try $0.laterRuns(than: id) }.undoneBy)
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

    /// Returns no columns: bmo does not read columns that other programs add.
    public func columnsWithoutHistory(undoing id: Int64) throws -> [String] { try read { _ in [] } }
}

extension EntityLayout {
    /// Returns whether a row of the table is an object of this entity.
    func contains(_ row: [StoredValue]) -> Bool {
        guard let field = discriminator, index != root else { return true }
        if case .text(let kind) = row[field] { return kinds.contains(kind) }
        return false
    }
}

extension PostgreSQLTables {
    /// Returns the number of recorded changes of runs, by run and kind.
    fileprivate func changeCounts(of runs: [Int64]) throws -> [Int64: RunRecord.Counts] {
        guard !runs.isEmpty else { return [:] }
        let result = try connection.query(
            """
            SELECT run, change, count(*) FROM \(sql.own("bmo_changes")) WHERE run = ANY($1::bigint[]) GROUP BY run, change
            """, [.bigints(runs)], for: "counting recorded changes")
        var counts: [Int64: RunRecord.Counts] = [:]
        for row in 0..<result.count {
            counts[result.bigint(row, 0) ?? 0, default: RunRecord.Counts()].add(
                result.text(row, 1) ?? "", Int(result.bigint(row, 2) ?? 0))
        }
        return counts
    }

    /// Returns the number of a table's rows.
    fileprivate func count(of root: Int) throws -> Int {
        Int(
            try connection.query("SELECT count(*) FROM \(try table(root).name)", for: "counting rows of \(name(root))")
                .bigint(0, 0) ?? 0)
    }

    /// Deletes the runs that are too old; the newest is always kept.
    fileprivate func forgetRuns(olderThan retention: HistoryRetention) throws {
        let kept: Int64?
        switch retention {
        case .forever: return
        case .runs(let count): kept = try runs(limit: max(1, count)).last?.id
        case .seconds(let seconds):
            let all = try runs(where: "started >= $1::text", [.text(Clock.text(secondsAgo: seconds))])
            kept = try all.last?.id ?? runs(limit: 1).last?.id
        }
        let isOld = try kept.map { try !runs(where: "id < $1::bigint", [.bigint($0)], limit: 1).isEmpty } ?? false
        if let kept, isOld { try forgetRuns(before: kept) }
    }
}
