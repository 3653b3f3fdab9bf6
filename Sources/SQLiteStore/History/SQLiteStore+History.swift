internal import StoreContract
internal import StoreRules
internal import GRDB
public import Model

extension SQLiteStore {
    /// Begins a run: writes until ``endRun(outcome:summary:always:keeping:)`` are recorded as its changes.
    ///
    /// The run's row in `bmo_runs` is written with its first change, so a run that changes nothing leaves the file
    /// alone. Earlier runs that are still open are marked as killed: call this only with the file's lock, or for
    /// the kind `push` with the push lock.
    ///
    /// - Parameter kind: The kind of run, such as `sync`.
    /// - Throws: `StoreError`.
    public func beginRun(kind: String) throws {
        try SQLiteStore.translating("beginning a run") {
            try writer.writeWithoutTransaction { db in
                let isPush = kind == "push"
                let hasDead = try Bool.fetchOne(
                    db,
                    sql: "SELECT EXISTS (SELECT 1 FROM bmo_runs WHERE outcome = 'running' AND (kind = 'push') = ?)",
                    arguments: [isPush])
                if hasDead == true { try inTransaction(db) { try writers.changes.closeDeadRuns(pushes: isPush) } }
                if !isPush { try forgetAcknowledged(db) }
                try writers.changes.begin(RunDescription(kind: kind, started: Clock.now(), undoes: nil))
            }
        }
    }

    /// Ends the run, saves its outcome, and deletes runs that are too old.
    ///
    /// - Parameters:
    ///   - outcome: The outcome, as a word.
    ///   - summary: A summary of its work, as JSON.
    ///   - always: Whether to keep the run even if it changed nothing.
    ///   - retention: The runs to keep; the newest is always kept.
    /// - Returns: The run's ID, if it was kept.
    /// - Throws: `StoreError`.
    @discardableResult
    public func endRun(
        outcome: String, summary: String?, always: Bool, keeping retention: HistoryRetention = .usual
    ) throws -> Int64? {
        try SQLiteStore.translating("recording the run") {
            // Also checked if the run has nothing to write.
            try checkFile()
            return try writer.writeWithoutTransaction { db in
                let changes = try writers.changes
                guard always || changes.currentID != nil else {
                    changes.abandon()
                    return nil
                }
                return try inTransaction(db) {
                    let id = try changes.end(outcome: outcome, summary: summary)
                    try Self.forget(olderThan: retention, in: db)
                    return id
                }
            }
        }
    }

    private static func forget(olderThan retention: HistoryRetention, in db: Database) throws {
        let newest = "SELECT max(id) FROM bmo_runs"
        let first: Int64?
        switch retention {
        case .forever: return
        case .runs(let count):
            first = try Int64.fetchOne(
                db, sql: "SELECT min(id) FROM (SELECT id FROM bmo_runs ORDER BY id DESC LIMIT ?)", arguments: [count])
        case .seconds(let seconds):
            first = try Int64.fetchOne(
                db, sql: "SELECT coalesce(min(id), (\(newest))) FROM bmo_runs WHERE started >= ?",
                arguments: [Clock.text(secondsAgo: seconds)])
        }
        guard let first else { return }
        // Checks first, as a delete reads whole tables even if it finds nothing.
        guard try Int64.fetchOne(db, sql: "SELECT min(id) FROM bmo_runs") ?? first < first else { return }
        try db.execute(sql: "DELETE FROM bmo_changes WHERE run < ?", arguments: [first])
        try db.execute(sql: "DELETE FROM bmo_runs WHERE id < ?", arguments: [first])
    }
}
