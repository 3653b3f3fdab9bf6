public import StoreContract
internal import Mapping

/// Tracks which fields of an entity have appeared in records.
///
/// A path that never matches is probably misspelled.
public struct PresentFields: Sendable {
    private let entity: Int
    /// The indexes of the fields that no record has had so far, in the entity's layout.
    public private(set) var missing: [Int]
    /// The number of records examined.
    public private(set) var records = 0
    /// Paths in the records that nothing reads.
    public private(set) var others: Set<String> = []

    /// The maximum number of ``others``.
    private static let maxOthers = 200

    /// Creates a tracker for fields of an entity.
    public init(_ fields: [Int], of entity: Int) {
        self.entity = entity
        missing = fields
    }

    /// Examines a batch's records, except those of sub-entities and those that could not be mapped.
    ///
    /// - Parameters:
    ///   - batch: The mapped records.
    ///   - redaction: Removes secrets from the paths that the records have.
    public mutating func note(_ batch: MappedBatch, _ redaction: Redaction) {
        for field in batch.unknownFields where field.entity == entity && others.count < Self.maxOthers {
            others.insert(redaction.words(field.path))
        }
        var record = -1
        for row in batch.page.rows where row.record != record {
            record = row.record
            guard row.entity == entity, !row.isReference else { continue }
            records += 1
            if !missing.isEmpty { missing.removeAll { batch.page.cells[row.firstCell + $0].kind != .absent } }
        }
    }

    /// Counts the records of a batch that is not mapped again.
    public mutating func note(_ batch: BatchSummary) {
        records += batch.records
        if !missing.isEmpty { missing.removeAll { !batch.absentFields.contains($0) } }
    }

    /// Adds the observations of another scan of the entity.
    public mutating func merge(_ other: PresentFields) {
        guard other.records > 0 else { return }
        missing = records == 0 ? other.missing : missing.filter(other.missing.contains)
        records += other.records
        others.formUnion(other.others.prefix(max(0, Self.maxOthers - others.count)))
    }
}
