internal import StoreContract
internal import StoreRules

/// The runs, the recorded changes and the sources of the rows.
extension MemoryTables {
    func addRun(_ run: RunDescription) -> Int64 {
        // A local edit holds no lock, ends with its transaction, and does not show whether other runs have died.
        if !run.isEdit { closeDeadRuns(pushes: run.kind == "push") }
        state.lastRun += 1
        state.runs.append(
            RunRecord(id: state.lastRun, kind: run.kind, started: run.started, outcome: "running", undoes: run.undoes))
        return state.lastRun
    }

    /// Marks runs that are still open as killed; returns whether there were any.
    @discardableResult
    func closeDeadRuns(pushes: Bool) -> Bool {
        var hasDead = false
        for index in state.runs.indices
        where state.runs[index].outcome == "running" && (state.runs[index].kind == "push") == pushes {
            state.runs[index].outcome = "killed"
            hasDead = true
        }
        return hasDead
    }

    private func change(_ id: Int64, _ body: (inout RunRecord) -> Void) {
        if let index = state.runs.lastIndex(where: { $0.id == id }) { body(&state.runs[index]) }
    }

    func finishRun(_ id: Int64, outcome: String, summary: String?) {
        change(id) { run in
            run.finished = Clock.now()
            run.outcome = outcome
            run.summary = summary
        }
    }

    func setSummary(_ id: Int64, _ summary: String?) { change(id) { $0.summary = summary } }

    func append(_ change: ChangeRecord) {
        state.lastChange += 1
        var change = change
        change.id = state.lastChange
        state.changes.append(change)
    }

    func changes(ofRun run: Int64) -> [ChangeRecord] { state.changes.filter { $0.run == run } }

    func renameHistory(of entity: String, from old: String, to new: String) {
        for index in state.changes.indices
        where state.changes[index].entity == entity && state.changes[index].hasKey(old) {
            state.changes[index].key = new
        }
    }

    func provenance(_ root: Int, _ key: RowKey) -> [ProvenanceRecord] { state.provenance[name(root)]?[key] ?? [] }

    func setProvenance(_ root: Int, _ key: RowKey, _ records: [ProvenanceRecord]) {
        state.provenance[name(root), default: [:]][key] = records.isEmpty ? nil : records
        state.sourceScans[name(root), default: []].formUnion(records.map(\.scan))
    }

    func forgetProvenance(of root: Int) { state.provenance[name(root)] = nil }
}
