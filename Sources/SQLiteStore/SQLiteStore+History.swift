internal import GRDB
internal import Importer

extension SQLiteStore {
    /// Begins a run: what is written until ``endRun(outcome:summary:always:)`` is recorded as its changes.
    ///
    /// Its row in `bmo_runs` is written with its first change, so that a run that changes nothing leaves the file alone.
    ///
    /// - Parameters:
    ///   - kind: What writes, as a word: `sync`.
    ///   - undoes: The run that it undoes.
    /// - Throws: ``StoreError``.
    public func beginRun(kind: String, undoes: Int64? = nil) throws {
        try SQLiteStore.translating("beginning a run") {
            try writer.writeWithoutTransaction { db in
                let hasDead = try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_runs WHERE outcome = 'running')")
                if hasDead == true { try writers.changes.closeDeadRuns() }
                try writers.changes.begin(RunDescription(kind: kind, started: Clock.now(), undoes: undoes))
            }
        }
    }

    /// Ends the run, and keeps how it ended; forgets runs that are too old.
    ///
    /// - Parameters:
    ///   - outcome: How it ended, as a word.
    ///   - summary: What it did, as JSON.
    ///   - always: Keeps the run even if it changed nothing.
    /// - Returns: The run's number, if it was kept.
    /// - Throws: ``StoreError``.
    @discardableResult
    public func endRun(outcome: String, summary: String?, always: Bool) throws -> Int64? {
        try SQLiteStore.translating("recording the run") {
            try writer.writeWithoutTransaction { db in
                let changes = try writers.changes
                guard always || changes.currentID != nil else {
                    _ = try changes.end(outcome: outcome, summary: summary, always: false)
                    return nil
                }
                var id: Int64?
                try db.inTransaction(.immediate) {
                    id = try changes.runID()
                    _ = try changes.end(outcome: outcome, summary: summary, always: always)
                    return .commit
                }
                return id
            }
        }
    }
}
