package import RecordBatch

/// The host's request for a scan.
public struct FetchRequest: Sendable {
    /// The entity's name in the configuration, for messages.
    public var entity: String
    /// The entity's own section of the configuration.
    public var section: BridgeOptions
    /// The resume point of an earlier page of the same scan; nil starts at the beginning.
    public var cursor: String?
    /// The preferred number of records per page, if the host has one.
    public var pageSize: Int?

    /// The ``Page/token`` of an earlier finished fetch: return only what changed since.
    ///
    /// Only for a bridge that can `BridgeDescriptor.Capability.incremental`.
    public var token: String?
    /// The newest imported value of the entity's incremental field, less the configured lookback, as the remote sent
    /// it.
    ///
    /// Only for a bridge that can `BridgeDescriptor.Capability.incremental`.
    public var since: String?
    /// The value of ``since`` as an ISO 8601 time in UTC, if the configuration says that it is a time, and the remote writes
    /// it in another form; nil otherwise. (1.2)
    public var sinceTime: String?
    /// Whether the host expects the newest records first, and ends the fetch where it knows what follows. (1.2)
    ///
    /// A bridge that would return several listings, one after the other, throws ``BridgeError/Code/configuration``. Only
    /// for a bridge that can `BridgeDescriptor.Capability.newestFirst`.
    public var newestFirst = false
    /// The object whose children are requested: its values by local names; nil if the entity has no parent.
    ///
    /// Only for a bridge that can `BridgeDescriptor.Capability.parent`.
    public var parent: BridgeOptions?
    /// Whether the section asks for one object, the one whose values ``parent`` has. (1.2)
    ///
    /// A reply without the object is complete only if it says that the object does not exist.
    public var readsOne = false
    /// Whether the section asks for more about an object that is known, the one whose values ``parent`` has. (1.2)
    ///
    /// A list inside the object that the reply describes does not have the requested records.
    public var readsDetails = false
    /// Conditions that all requested records satisfy; a bridge may leave any of them to the host.
    public var filters: [Filter]
    /// Contact no remote: write one record `{request, body}` per request that the first page would take, and list in
    /// ``Page/pushed`` the filters that the remote would apply.
    public var explains: Bool
    /// Paths that the host reads from the objects around a record, for records that come from nested arrays: such as
    /// `@parent.id`, `@parent.@parent.code` and `@index`. (1.1)
    ///
    /// A bridge that supports them adds to each record the members `@parent` (an object with these members, possibly
    /// with its own `@parent` and `@index`) and `@index` (the record's index in its array, from 0).
    public var surroundings: [String] = []
    /// The members of a record that the host reads; others may be left out to save work; nil means all.
    public var fields: Set<String>?
    /// The paths in a record of the values that the host reads; nil means any value. (1.1)
    ///
    /// For a remote that can select what it sends. Where a path leads to an object, the host reads its values as a whole.
    public var fieldPaths: [[String]]?
    /// The paths in a record of the parts of its object's key: with dots, in the key's order.
    ///
    /// Empty if the host does not send them, or if the key has no path of its own.
    ///
    /// For remotes that identify a deleted object by another kind of id, such as its URL.
    public var keyPaths: [String] = []
    /// Return no records: each `RecordSource.next(into:)` waits for a change, for at most this many milliseconds.
    ///
    /// Return ``Page/change()`` or ``Page/noChange()``; a change between two calls counts for the next one. Throw
    /// ``BridgeError/Code/unsupported`` if the remote cannot report changes: the host then polls. Only for a bridge
    /// that can `BridgeDescriptor.Capability.watch`.
    public var watchMilliseconds: Int?
    /// Contact no remote, not even for a description of the API: return a `ValidationSource` with the section's faults.
    ///
    /// Only the names of a parent's attributes are known; they replace the values. So do names in ``since`` and
    /// ``token``. Only for a bridge that can `BridgeDescriptor.Capability.validate`.
    public var validates = false
    /// What the embedding program says about this request, of a type of its own: an object of at most 16 KiB. (1.2)
    ///
    /// Only for a bridge that can `BridgeDescriptor.Capability.userInfo`.
    public var userInfo: BridgeOptions?
    /// Parameters of this fetch alone, by the remote's names: texts, numbers and bools. (1.2)
    ///
    /// Each takes the place of the section's own parameter of that name. Only for a bridge that can
    /// `BridgeDescriptor.Capability.parameters`.
    public var parameters: BridgeOptions?
    /// With ``explains``: the section for reading one object, if the configuration has one.
    public var readOne: BridgeOptions?
    /// With ``explains``: the paths of the values that can be set in a new object; nil if the host does not send them.
    public var writtenPaths: [[String]]?
    /// With ``validates``: the entity's names; nil if the host does not send them.
    public var names: EntityNames?
    /// With ``validates``: whether the entity's objects are also written, so that a section that allows no writing is a
    /// fault.
    public var isWritable = false
    /// With ``validates``: the members of the section that the entity's own section does not have, but the bridge's section or
    /// the defaults of the file, where other entities may need them. (1.2)
    public var inheritedMembers: [String] = []

    /// Whether the bridge prepares the next batch while the host handles the current one; not part of the message.
    package var prefetches = true
    /// The time limit for all tries of a step together, nil for the connection's; not part of the message.
    package var patience: Duration?
    /// The rank among the fetches that wait for an instance of the bridge, the highest first; not part of the message.
    package var priority = 0

    /// A condition on a record's value.
    public struct Filter: Sendable, Equatable {
        /// The comparison between the record's value and the filter's.
        public enum Comparison: String, Sendable {
            /// The values are equal.
            case equal = "="
            /// The values differ.
            case notEqual = "!="
            /// The record's value is smaller.
            case less = "<"
            /// The record's value is smaller or equal.
            case lessOrEqual = "<="
            /// The record's value is larger.
            case greater = ">"
            /// The record's value is larger or equal.
            case greaterOrEqual = ">="
        }

        /// The attribute's local name.
        public var attribute: String
        /// The attribute's path in the remote record, with dots.
        public var path: String
        /// The comparison.
        public var comparison: Comparison
        /// The value as text; nil is null.
        public var value: String?

        /// Creates a filter.
        public init(attribute: String, path: String, comparison: Comparison, value: String?) {
            self.attribute = attribute
            self.path = path
            self.comparison = comparison
            self.value = value
        }
    }

    /// Creates a request.
    public init(
        entity: String, section: BridgeOptions, cursor: String? = nil, pageSize: Int? = nil, token: String? = nil,
        since: String? = nil, parent: BridgeOptions? = nil, filters: [Filter] = [], explains: Bool = false,
        fields: Set<String>? = nil, watchMilliseconds: Int? = nil
    ) {
        self.entity = entity
        self.section = section
        self.cursor = cursor
        self.pageSize = pageSize
        self.token = token
        self.since = since
        self.parent = parent
        self.filters = filters
        self.explains = explains
        self.fields = fields
        self.watchMilliseconds = watchMilliseconds
    }

    /// Creates the host's request.
    ///
    /// - Parameter section: A batch of one object; nil is an empty section.
    package init(entity: String, section: RecordBatch? = nil, cursor: String? = nil, pageSize: Int? = nil) {
        self.init(
            entity: entity, section: section.flatMap(BridgeOptions.init(batch:)) ?? .empty, cursor: cursor,
            pageSize: pageSize, token: nil)
    }
}
