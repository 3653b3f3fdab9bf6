public import Mapping

/// The recorded sources and changes of one row.
public struct RowHistory: Sendable {
    /// The columns last written by one source.
    public struct Group: Sendable, Equatable {
        /// The configured name of the bridge.
        public var bridge: String
        /// The entity whose scan provided them.
        public var scan: String
        /// Whether that scan is the entity's own listing.
        public var isListing: Bool
        /// The column names.
        public var columns: [String]
        /// The first run in which the source wrote the row, if known.
        public var firstRun: Int64?
        /// The last run in which the source wrote the row, if known.
        public var lastRun: Int64?
        /// The URL or path of the last write, without secrets.
        public var location: String?

        /// Creates a group.
        package init(
            bridge: String, scan: String, isListing: Bool, columns: [String], firstRun: Int64? = nil,
            lastRun: Int64? = nil, location: String? = nil
        ) {
            self.bridge = bridge
            self.scan = scan
            self.isListing = isListing
            self.columns = columns
            self.firstRun = firstRun
            self.lastRun = lastRun
            self.location = location
        }
    }

    /// A run's change of the row.
    public struct Event: Sendable {
        /// The run's ID.
        public var run: Int64
        /// The kind of run: `sync`, `undo`, `retry`.
        public var kind: String
        /// When the run began, as ISO 8601.
        public var started: String
        /// The change.
        public var change: RowChange

        /// Creates an event.
        package init(
            run: Int64, kind: String, started: String, change: RowChange
        ) {
            self.run = run
            self.kind = kind
            self.started = started
            self.change = change
        }
    }

    /// The entity.
    public var entity: String
    /// The row's key.
    public var key: [StoredValue]
    /// The values, one per field of `EntityLayout.columns`; nil if the row does not exist now.
    public var values: [StoredValue]?
    /// Whether it is a stub.
    public var isStub: Bool
    /// Whether the entity's own listing has ever included it.
    public var isListed: Bool
    /// The sources of its columns.
    public var groups: [Group]
    /// The changes, newest first; a first load is one event for all rows.
    public var events: [Event]
    /// Quarantined records that seem to belong to this object.
    public var quarantined: [QuarantineEntry]

    /// Creates a value.
    package init(
        entity: String, key: [StoredValue], values: [StoredValue]? = nil, isStub: Bool, isListed: Bool, groups: [Group],
        events: [Event], quarantined: [QuarantineEntry]
    ) {
        self.entity = entity
        self.key = key
        self.values = values
        self.isStub = isStub
        self.isListed = isListed
        self.groups = groups
        self.events = events
        self.quarantined = quarantined
    }
}
