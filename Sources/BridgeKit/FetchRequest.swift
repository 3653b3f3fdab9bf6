internal import RecordBatch

/// What the host asks a walk for.
public struct FetchRequest: Sendable {
    /// The entity's name in the config, for messages.
    public var entity: String
    /// The entity's own section of the config.
    public var section: BridgeOptions
    /// A resume point that an earlier page of the same walk gave; nil begins at the beginning.
    public var cursor: String?
    /// How many records a page should have, if the host has a wish.
    public var pageSize: Int?

    /// What an earlier finished fetch gave as ``Page/token``: bring only what moved since.
    ///
    /// Only for a bridge that can ``BridgeDescriptor/Capability/incremental``.
    public var token: String?
    /// The newest value of the entity's incremental field that was imported, less the config's lookback, as the remote
    /// sent it.
    ///
    /// Only for a bridge that can ``BridgeDescriptor/Capability/incremental``.
    public var since: String?
    /// The object whose children are wanted: its values by local names; nil where the entity has no parent.
    ///
    /// Only for a bridge that can ``BridgeDescriptor/Capability/parent``.
    public var parent: BridgeOptions?
    /// Conditions that all hold of the records that are wanted; a bridge may leave any of them to the host.
    public var filters: [Filter]
    /// Contact nobody: write one record `{request, body}` per request that the first page would take, and say in
    /// ``Page/pushed`` which filters the remote would apply.
    public var explains: Bool
    /// The members of a record that the host reads: others may be left out, where that spares work; nil is all.
    public var fields: Set<String>?
    /// Bring no records: each ``RecordSource/next(into:)`` waits until something moved, at most so many milliseconds.
    ///
    /// It answers with ``Page/change()`` or ``Page/noChange()``; what moves between two calls counts for the next one. Throw
    /// ``BridgeError/Code/unsupported`` where the remote cannot tell: the host then asks from time to time. Only for a bridge that
    /// can ``BridgeDescriptor/Capability/watch``.
    public var watchMilliseconds: Int?
    /// Contact nobody, not even for a description of the API: return a ``JudgedSource`` with what is wrong with the section.
    ///
    /// Of a parent only the names of its attributes are known: they stand for the values. Only for a bridge that can
    /// ``BridgeDescriptor/Capability/judge``.
    public var judges = false
    /// With ``judges``: the entity's names; nil where the host does not tell them.
    public var names: EntityNames?
    /// With ``judges``: whether the entity's objects are written, too, so that a section that allows no writing is a fault.
    public var isWritable = false

    /// A condition on a record's value.
    public struct Filter: Sendable {
        /// How the record's value stands to the filter's.
        public enum Comparison: String, Sendable {
            case equal = "="
            case notEqual = "!="
            case less = "<"
            case lessOrEqual = "<="
            case greater = ">"
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

        /// A condition.
        public init(attribute: String, path: String, comparison: Comparison, value: String?) {
            self.attribute = attribute
            self.path = path
            self.comparison = comparison
            self.value = value
        }

        init?(_ record: BridgeOptions) {
            guard let attribute = record.string("attribute"),
                let comparison = record.string("comparison").flatMap(Comparison.init)
            else { return nil }
            self.init(
                attribute: attribute, path: record.string("path") ?? attribute, comparison: comparison,
                value: record.string("value"))
        }
    }

    /// A request.
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

    init(_ record: BridgeOptions) {
        entity = record.string("entity") ?? ""
        section = record.object("section") ?? .empty
        cursor = record.string("cursor")
        pageSize = record.integer("page_size")
        token = record.string("token")
        since = record.string("since")
        parent = record.object("parent")
        filters = record.objects("filters").compactMap(Filter.init)
        explains = record.bool("explain") ?? false
        if record.has("fields") { fields = Set(record.strings("fields")) }
        if record.bool("watch") ?? false { watchMilliseconds = record.integer("wait") ?? 60_000 }
        judges = record.bool("judge") ?? false
        names = record.object("names").map(EntityNames.init)
        isWritable = record.bool("writable") ?? false
    }
}
