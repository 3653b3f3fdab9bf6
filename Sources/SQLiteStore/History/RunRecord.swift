internal import GRDB

/// A run that changed or reported something.
public struct RunRecord: Sendable {
    /// The number of rows that a run changed, by kind of change.
    public struct Counts: Sendable, Equatable {
        /// The number of rows that were new, or stubs before.
        public var inserted = 0
        /// The number of rows whose columns changed.
        public var updated = 0
        /// The number of rows deleted.
        public var deleted = 0
        /// The number of to-many relationships that changed.
        public var relinked = 0
        /// The number of rows that became stubs.
        public var stubbed = 0
        /// The number of entities whose first rows were imported; these rows are not counted individually.
        public var loaded = 0

        /// Creates counts of zero.
        public init() {}

        /// The sum of all counts.
        public var total: Int { inserted + updated + deleted + relinked + stubbed + loaded }

        /// The counts with their kinds' names, in a fixed order.
        public var parts: [(word: String, count: Int)] {
            [
                ("loaded", loaded), ("inserted", inserted), ("updated", updated), ("deleted", deleted),
                ("relinked", relinked), ("stubbed", stubbed),
            ]
        }

        mutating func add(_ change: String, _ count: Int) {
            switch ChangeLog.Change(rawValue: change) {
            case .inserted: inserted += count
            case .deleted: deleted += count
            case .relinked: relinked += count
            case .stubbed: stubbed += count
            case .loaded: loaded += count
            case .updated, nil: updated += count
            }
        }
    }

    /// The run's ID.
    public var id: Int64
    /// The kind of run: `sync`, `undo`, `retry`.
    public var kind: String
    /// When it began, as ISO 8601.
    public var started: String
    /// When it ended; nil while it is running, and for a run that died.
    public var finished: String?
    /// The outcome: `finished`, `failed`, `interrupted`, or `killed` if its process died; `running` until then.
    public var outcome: String
    /// A summary of its work, as JSON.
    public var summary: String?
    /// The run that it undid.
    public var undoes: Int64?
    /// The number of its records in `bmo_changes`.
    public var counts = Counts()
}

extension SQLiteStore {
    /// Returns the runs that are kept, newest first.
    ///
    /// - Parameters:
    ///   - id: Returns only this run.
    ///   - limit: The maximum number of runs.
    /// - Throws: ``StoreError``.
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
    /// - Throws: ``StoreError``.
    public func lastRunWithChanges() throws -> Int64? {
        try read("reading the runs") { db in
            try Int64.fetchOne(db, sql: "SELECT max(run) FROM bmo_changes")
        }
    }
}
