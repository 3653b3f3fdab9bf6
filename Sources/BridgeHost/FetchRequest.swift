public import RecordBatch

/// What a fetch asks for.
public struct FetchRequest: Sendable {
    /// The entity's name in the configuration.
    public var entity: String
    /// The entity's own section of the configuration: a batch of one object.
    ///
    /// Nil is an empty section.
    public var section: RecordBatch?
    /// Where to continue: a ``PageInfo/cursor`` of an earlier fetch of the same entity and section.
    public var cursor: String?
    /// How many records a page should have; nil leaves it to the bridge.
    public var pageSize: Int?

    /// The ``PageInfo/token`` of an earlier finished fetch of the same entity, section and parent.
    public var token: String?
    /// The newest value of the entity's incremental field that is known, as the remote sent it.
    public var since: String?
    /// The local values of the object whose children are wanted: a batch of one object.
    public var parent: RecordBatch?
    /// Conditions that the bridge may have the remote apply.
    public var filters: [Filter] = []
    /// Asks what the first page would request, and contacts nobody.
    public var explains = false
    /// The members of a record that are read: a bridge may leave out others; nil is all.
    public var fields: [String]?
    /// Asks for no records but for a word when something moves, after at most so long: ``BridgeConnection/watch(_:)`` sets it.
    var wait: Duration?
    /// Whether the bridge makes a batch while the caller works on the one before: not for one page alone.
    public var prefetches = true
    /// Asks what is wrong with the section, and contacts nobody.
    public var judges = false
    /// With ``judges``: the local names of what an object of the entity has.
    public var fieldNames: [String] = []
    /// With ``judges``: the local names of what the key is made of.
    public var keyNames: [String] = []
    /// With ``judges``: whether the entity's objects are written, too.
    public var isWritable = false

    /// A condition on the records that are wanted.
    public struct Filter: Sendable, Equatable {
        /// The attribute's local name.
        public var attribute: String
        /// Its path in the remote record, with dots.
        public var path: String
        /// One of `=`, `!=`, `<`, `<=`, `>`, `>=`.
        public var comparison: String
        /// The value as text; nil is null.
        public var value: String?

        /// A condition.
        public init(attribute: String, path: String, comparison: String, value: String?) {
            self.attribute = attribute
            self.path = path
            self.comparison = comparison
            self.value = value
        }
    }

    /// A request with a section that is there as a batch.
    public init(entity: String, section: RecordBatch? = nil, cursor: String? = nil, pageSize: Int? = nil) {
        self.entity = entity
        self.section = section
        self.cursor = cursor
        self.pageSize = pageSize
    }

    /// A request with a section whose members `section` writes.
    ///
    /// - Throws: ``RecordBatchError`` when `section` writes something that is no object's members.
    public init(
        entity: String, cursor: String? = nil, pageSize: Int? = nil, section: (RecordBatchWriter) -> Void
    ) throws(RecordBatchError) {
        let writer = RecordBatchWriter()
        writer.object { section(writer) }
        self.init(entity: entity, section: try writer.finish(), cursor: cursor, pageSize: pageSize)
    }

    /// The record that `fetch_open` gets (bmo_bridge.h), continuing at `cursor`.
    func batch(cursor: String?) throws(RecordBatchError) -> RecordBatch {
        let writer = RecordBatchWriter()
        writer.object {
            writer.key("entity")
            writer.text(entity)
            writer.key("section")
            if let section, section.count > 0, section[0].tag == .object {
                writer.copy(section[0])
            } else {
                writer.object {}
            }
            writer.key("cursor")
            if let cursor { writer.text(cursor) } else { writer.null() }
            writer.key("page_size")
            if let pageSize { writer.int64(Int64(pageSize)) } else { writer.null() }
            if let token { writer.member("token", token) }
            if let since { writer.member("since", since) }
            if let parent, parent.count > 0, parent[0].tag == .object {
                writer.key("parent")
                writer.copy(parent[0])
            }
            if !filters.isEmpty { writeFilters(to: writer) }
            if explains { writer.member("explain", true) }
            if let fields {
                writer.key("fields")
                writer.array { for field in fields { writer.text(field) } }
            }
            if let wait {
                writer.member("watch", true)
                writer.member("wait", Int(wait / .milliseconds(1)))
            }
            if judges {
                writer.member("judge", true)
                writeNames(to: writer)
                writer.member("writable", isWritable)
            }
        }
        return try writer.finish()
    }

    private func writeNames(to writer: RecordBatchWriter) {
        writer.key("names")
        writer.object {
            for (member, names) in [("fields", fieldNames), ("key", keyNames)] {
                writer.key(member)
                writer.array { for name in names { writer.text(name) } }
            }
        }
    }

    private func writeFilters(to writer: RecordBatchWriter) {
        writer.key("filters")
        writer.array {
            for filter in filters {
                writer.object {
                    writer.member("attribute", filter.attribute)
                    writer.member("path", filter.path)
                    writer.member("comparison", filter.comparison)
                    writer.member("value", filter.value)
                }
            }
        }
    }
}
