public import StoreContract
public import Mapping
public import RecordBatch

/// A batch of records, mapped to the store's form.
///
/// Mapping needs no transaction, so it may run ahead on any thread.
public final class MappedBatch: @unchecked Sendable {
    // Immutable after initialization.
    let batch: RecordBatch
    /// The records in the store's form.
    package let page: MixedPage
    /// The fields that nothing reads, without those the mapper has already reported.
    let unknownFields: [UnknownField]
    /// The members that the records have; see `Mapper.takeMembers()`.
    public let members: [ListedMember]
    /// The key of each rejected record, in the order of the page's rejections; nil for a record without a readable key.
    let rejectedKeys: [[StoredValue]?]
    /// How much of its object each record has.
    let extent: RecordExtent

    /// The reason for the first rejection.
    public var firstRejection: String? { page.rejections.first?.reason }

    /// The number of bytes of the records.
    public var byteCount: Int { batch.byteCount }

    /// Returns the keys of the objects of all rows that have one.
    public func objects(in model: CompiledModel) -> [ObjectKey] {
        page.rows.compactMap { row in
            let key = page.key(of: row, in: model)
            return key.isEmpty || key.contains(.null) ? nil : ObjectKey(entity: row.entity, values: key)
        }
    }

    /// The number of records that could not be mapped.
    public var rejectedCount: Int { page.rejections.count }

    /// Maps a batch.
    ///
    /// - Parameters:
    ///   - batch: The records.
    ///   - mapper: The scan's mapper.
    ///   - plan: The index of the mapping plan to use.
    ///   - parent: The parent's key, in a scan per parent.
    ///   - extent: How much of its object each record has.
    public init(
        _ batch: RecordBatch, by mapper: Mapper, as plan: Int, parent: [StoredValue]? = nil,
        extent: RecordExtent = .part
    ) {
        self.batch = batch
        self.extent = extent
        let page = mapper.map(batch, as: plan, parent: parent, extent: extent)
        self.page = page
        unknownFields = mapper.takeUnknownFields()
        members = mapper.takeMembers()
        rejectedKeys = page.rejections.map { mapper.key(of: batch[$0.record], as: plan, parent: parent) }
    }
}

extension MixedPage {
    /// Returns the key of a row's object; null stands for what it lacks.
    func key(of row: Row, in model: CompiledModel) -> [StoredValue] {
        model.entities[row.entity].key.map { cells[row.firstCell + $0].value ?? .null }
    }
}
