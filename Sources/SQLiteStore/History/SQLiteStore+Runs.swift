public import StoreContract
internal import GRDB

extension SQLiteStore {
    /// Returns the runs that are kept, newest first.
    ///
    /// - Parameters:
    ///   - id: Returns only this run.
    ///   - limit: The maximum number of runs.
    /// - Throws: `StoreError`.
    public func runs(id: Int64? = nil, limit: Int? = nil) throws -> [RunRecord] {
        let runs = try readRuns(id: id, limit: limit)
        guard runs.contains(where: { $0.outcome == "running" }) else { return runs }
        // A live run holds a lock. Checks the locks before reading the runs again, so that a run that ends between has
        // its outcome.
        let (isNobodyWriting, isNobodyPushing) = (FileLock.isFree(of: path), FileLock.isFree(of: path, suffix: "-push"))
        return try readRuns(id: id, limit: limit).map { run in
            guard run.outcome == "running", runs.contains(where: { $0.id == run.id }),
                run.kind == "push" ? isNobodyPushing : isNobodyWriting
            else { return run }
            var run = run
            run.outcome = "killed"
            return run
        }
    }

    private func readRuns(id: Int64?, limit: Int?) throws -> [RunRecord] {
        try read("reading the runs") { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, kind, started, finished, outcome, summary, undoes FROM bmo_runs
                    WHERE ?1 IS NULL OR id = ?1 ORDER BY id DESC LIMIT ifnull(?2, -1)
                    """, arguments: [id, limit])
            return try rows.map { row in
                var run = RunRecord(
                    id: row["id"], kind: row["kind"], started: row["started"], finished: row["finished"],
                    outcome: row["outcome"], summary: row["summary"], undoes: row["undoes"])
                let counts = try Row.fetchAll(
                    db, sql: "SELECT change, count(*) AS count FROM bmo_changes WHERE run = ? GROUP BY change",
                    arguments: [run.id])
                for count in counts { run.counts.add(count["change"], count["count"]) }
                return run
            }
        }
    }

    /// Returns the ID of the newest run that changed rows.
    ///
    /// - Throws: `StoreError`.
    public func lastRunWithChanges() throws -> Int64? {
        try read("reading the runs") { db in
            try Int64.fetchOne(db, sql: "SELECT max(run) FROM bmo_changes")
        }
    }
}
