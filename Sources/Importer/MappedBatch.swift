public import Mapping
public import RecordBatch

/// A batch of records in the forms that the store takes: made before the page has its turn, on whatever thread has time for it.
public final class MappedBatch: @unchecked Sendable {
    // Nothing of it changes once it is made.
    let batch: RecordBatch
    let page: MixedPage
    /// The fields that nothing reads, as far as the mapper had not told them before.
    let unknownFields: [UnknownField]
    /// The key of each record that could not be mapped, in the order of the page's rejections; nil where it has none.
    let rejectedKeys: [[StoredValue]?]

    /// Why the first record that could not be mapped could not.
    public var firstRejection: String? { page.rejections.first?.reason }

    /// Maps a batch.
    ///
    /// - Parameters:
    ///   - batch: The records.
    ///   - mapper: The mapper of the walk.
    ///   - plan: The index of the plan that maps them.
    ///   - parent: The key of the object that a walk per parent asked for.
    public init(_ batch: RecordBatch, by mapper: Mapper, as plan: Int, parent: [StoredValue]? = nil) {
        self.batch = batch
        let page = mapper.map(batch, as: plan, parent: parent)
        self.page = page
        unknownFields = mapper.takeUnknownFields()
        rejectedKeys = page.rejections.map { mapper.key(of: batch[$0.record], as: plan, parent: parent) }
    }
}
