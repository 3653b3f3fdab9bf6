/// The status of one entity.
public struct EntityStatus: Sendable {
    /// The point at which a scan was interrupted.
    public struct Scan: Sendable {
        /// The number of pages imported.
        public var page: Int
        /// When the last page was imported, as ISO 8601.
        public var saved: String
        /// Whether the next sync resumes here; see `ScanProgress.currentTimes`.
        public var isFresh: Bool

        /// Creates a point.
        package init(page: Int, saved: String) {
            self.page = page
            self.saved = saved
            isFresh = ScanProgress.isCurrent(saved: saved)
        }
    }

    /// The entity.
    public var name: String
    /// The number of its rows, including those of its sub-entities, without stubs.
    public var rows: Int
    /// The number of its stubs; those of sub-entities count for the entity that has the table.
    public var stubs: Int
    /// The number of records that could not be imported.
    public var quarantined: Int
    /// The newest run that changed its rows.
    public var lastRun: Int64?
    /// When that run began, as ISO 8601.
    public var lastChanged: String?
    /// The interrupted scan, if there is one.
    public var interrupted: Scan?
    /// What the next scans will request, in words.
    public var cursors: [String]

    /// Creates a value.
    package init(
        name: String, rows: Int, stubs: Int, quarantined: Int, lastRun: Int64? = nil, lastChanged: String? = nil,
        interrupted: Scan? = nil, cursors: [String]
    ) {
        self.name = name
        self.rows = rows
        self.stubs = stubs
        self.quarantined = quarantined
        self.lastRun = lastRun
        self.lastChanged = lastChanged
        self.interrupted = interrupted
        self.cursors = cursors
    }
}
