internal import GRDB

/// A run that changed something or had something to tell.
public struct RunRecord: Sendable {
    /// How many rows a run changed, by kind of change.
    public struct Counts: Sendable, Equatable {
        /// Rows that were new, or were stubs before.
        public var inserted = 0
        /// Rows of which columns changed.
        public var updated = 0
        /// Rows that went.
        public var deleted = 0
        /// Relationships to many that changed.
        public var relinked = 0
        /// Rows that became stubs.
        public var stubbed = 0
        /// Entities whose first rows came: those are not counted one by one.
        public var loaded = 0

        /// Nothing.
        public init() {}

        /// All of them.
        public var total: Int { inserted + updated + deleted + relinked + stubbed + loaded }

        /// The kinds with their words, in a fixed order.
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

    /// Its number.
    public var id: Int64
    /// What wrote: `sync`, `undo`, `retry`.
    public var kind: String
    /// When it began, as ISO 8601.
    public var started: String
    /// When it ended; nil while it runs, and for a run that died.
    public var finished: String?
    /// How it ended: `finished`, `failed`, `interrupted`; `running` until then.
    public var outcome: String
    /// What it did, as JSON.
    public var summary: String?
    /// The run that it undid.
    public var undoes: Int64?
    /// How many records `bmo_changes` has of it.
    public var counts = Counts()
}

extension SQLiteStore {
    /// The runs that are kept, newest first.
    ///
    /// - Parameters:
    ///   - id: Only this one.
    ///   - limit: At most so many.
    /// - Throws: ``StoreError``.
    public func runs(id: Int64? = nil, limit: Int? = nil) throws -> [RunRecord] {
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

    /// The newest run that changed rows.
    ///
    /// - Throws: ``StoreError``.
    public func lastRunWithChanges() throws -> Int64? {
        try read("reading the runs") { db in
            try Int64.fetchOne(db, sql: "SELECT max(run) FROM bmo_changes")
        }
    }
}
