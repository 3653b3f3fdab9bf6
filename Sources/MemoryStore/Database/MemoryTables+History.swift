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

    private func isOpen(_ run: RunRecord, pushes: Bool) -> Bool {
        run.outcome == "running" && (run.kind == "push") == pushes
    }

    func hasOpenRuns(pushes: Bool) -> Bool { state.runs.contains { isOpen($0, pushes: pushes) } }

    func closeDeadRuns(pushes: Bool) {
        for index in state.runs.indices where isOpen(state.runs[index], pushes: pushes) {
            state.runs[index].outcome = "killed"
        }
    }

    func forgetRuns(before id: Int64) {
        state.runs.removeAll { $0.id < id }
        state.changes.removeAll { $0.run < id }
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

    // MARK: - Reading

    func runs(_ ids: [Int64]?, limit: Int?) -> [RunRecord] {
        Array(state.runs.reversed().filter { ids?.contains($0.id) ?? true }.prefix(limit ?? .max))
    }

    func changeCounts(of runs: [Int64]) -> [Int64: RunRecord.Counts] {
        let wanted = Set(runs)
        return state.changes.reduce(into: [:]) { counts, change in
            guard wanted.contains(change.run) else { return }
            counts[change.run, default: RunRecord.Counts()].add(change.change.rawValue, 1)
        }
    }

    var lastChange: Int64 { state.lastChange }

    func lastRunWithChanges() -> Int64? { state.changes.map(\.run).max() }

    func changes(ofRun run: Int64, after id: Int64, limit: Int?) -> [ChangeRecord] {
        Array(state.changes.filter { $0.run == run && $0.id > id }.prefix(limit ?? .max))
    }

    func changes(of entity: String, key: String) -> [ChangeRecord] {
        state.changes.filter { $0.entity == entity && ($0.key == nil || $0.hasKey(key)) }
    }

    func changes(after record: ChangeRecord) -> [ChangeRecord] {
        state.changes.reversed().filter { $0.id > record.id && $0.isSameRow(as: record) }
    }

    func hasLinkChanges(of entity: String, after id: Int64) -> Bool {
        state.changes.contains { $0.entity == entity && $0.id > id && $0.change == .relinked }
    }

    // MARK: - Rows

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
