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

        package mutating func add(_ change: String, _ count: Int) {
            switch RowChange.Kind(rawValue: change) {
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

    /// Creates a value.
    package init(
        id: Int64, kind: String, started: String, finished: String? = nil, outcome: String, summary: String? = nil,
        undoes: Int64? = nil, counts: Counts = Counts()
    ) {
        self.id = id
        self.kind = kind
        self.started = started
        self.finished = finished
        self.outcome = outcome
        self.summary = summary
        self.undoes = undoes
        self.counts = counts
    }
}
