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
        }
        return try writer.finish()
    }
}
