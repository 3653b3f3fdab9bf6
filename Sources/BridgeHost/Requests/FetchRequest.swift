public import RecordBatch

/// The parameters of a fetch.
public struct FetchRequest: Sendable {
    /// The entity's name in the configuration.
    public var entity: String
    /// The entity's own section of the configuration, as a batch of one object; nil is an empty section.
    public var section: RecordBatch?
    /// The ``PageInfo/cursor`` of an earlier fetch of the same entity and section, to continue from there.
    public var cursor: String?
    /// The desired number of records per page; nil leaves it to the bridge.
    public var pageSize: Int?

    /// The ``PageInfo/token`` of an earlier finished fetch of the same entity, section and parent.
    public var token: String?
    /// The newest known value of the entity's incremental field, as the remote sent it.
    public var since: String?
    /// The local values of the object whose children to fetch, as a batch of one object.
    public var parent: RecordBatch?
    /// Conditions that the bridge may push down to the remote.
    public var filters: [Filter] = []
    /// Asks for the requests that the first page would take, without contacting the remote.
    public var explains = false
    /// The members of a record that the host reads; nil means all.
    ///
    /// A bridge may omit the others.
    public var fields: [String]?
    /// The dotted paths of the key's components in a record, for remotes that name deleted objects by another id.
    public var keyPaths: [String] = []
    /// The paths that the host reads in the objects around a record, such as `@parent.id`.
    public var surroundings: [String] = []
    /// Asks for a report of changes, after at most this time, instead of records; ``BridgeConnection/watch(_:)`` sets
    /// it.
    var wait: Duration?
    /// Whether the bridge prepares the next batch while the caller handles the current one; false for a single page.
    public var prefetches = true
    /// The time limit for all tries of a step together; nil is the connection's limit.
    public var patience: Duration?
    /// With ``explains``: the section that reads one object, as a batch of one object.
    public var readOne: RecordBatch?
    /// With ``explains``: the target paths of the values that can be set in a new object.
    public var writtenPaths: [[String]]?
    /// Asks for the errors in the section, without contacting the remote.
    public var judges = false
    /// With ``judges``: the local names of the entity's fields.
    public var fieldNames: [String] = []
    /// With ``judges``: the local names of the key's components.
    public var keyNames: [String] = []
    /// With ``judges``: the local names that an update may set inside nested objects that cannot be read first.
    public var nestedNames: [String] = []
    /// With ``judges``: whether the entity's objects are also written.
    public var isWritable = false

    /// A condition on the records to fetch.
    public struct Filter: Sendable, Equatable {
        /// The attribute's local name.
        public var attribute: String
        /// The attribute's dotted path in the remote record.
        public var path: String
        /// One of `=`, `!=`, `<`, `<=`, `>`, `>=`.
        public var comparison: String
        /// The value as text; nil is null.
        public var value: String?

        /// Creates a condition.
        public init(attribute: String, path: String, comparison: String, value: String?) {
            self.attribute = attribute
            self.path = path
            self.comparison = comparison
            self.value = value
        }
    }

    /// Creates a request with a section that already exists as a batch.
    public init(entity: String, section: RecordBatch? = nil, cursor: String? = nil, pageSize: Int? = nil) {
        self.entity = entity
        self.section = section
        self.cursor = cursor
        self.pageSize = pageSize
    }

    /// Creates a request with a section whose members `section` writes.
    ///
    /// - Throws: ``RecordBatchError`` when `section` writes anything but an object's members.
    public init(
        entity: String, cursor: String? = nil, pageSize: Int? = nil, section: (RecordBatchWriter) -> Void
    ) throws(RecordBatchError) {
        let writer = RecordBatchWriter()
        writer.object { section(writer) }
        self.init(entity: entity, section: try writer.finish(), cursor: cursor, pageSize: pageSize)
    }

    /// Encodes the request for `fetch_open` (bmo_bridge.h), continuing at `cursor`.
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
            if let readOne, readOne.count > 0 {
                writer.key("read_one")
                writer.copy(readOne[0])
            }
            if let writtenPaths {
                writer.key("written")
                writer.array {
                    for path in writtenPaths {
                        writer.object {
                            writer.key("path")
                            writer.array { for name in path { writer.text(name) } }
                        }
                    }
                }
            }
            if let fields {
                writer.key("fields")
                writer.array { for field in fields { writer.text(field) } }
            }
            if !keyPaths.isEmpty {
                writer.key("key_paths")
                writer.array { for path in keyPaths { writer.text(path) } }
            }
            if !surroundings.isEmpty {
                writer.key("surroundings")
                writer.array { for path in surroundings { writer.text(path) } }
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
            for (member, names) in [("fields", fieldNames), ("key", keyNames), ("nested", nestedNames)] {
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
