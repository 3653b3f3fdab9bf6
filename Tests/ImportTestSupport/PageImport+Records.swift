package import Importer
internal import StoreContract
package import Mapping
package import RecordBatch

extension PageImport {
    /// Maps and merges records, as the entity's own plan or another one says.
    package func add(
        _ records: RecordBatch, location: String?, plan: Int? = nil, parent: [StoredValue]? = nil,
        by mapper: Mapper? = nil, extent: RecordExtent = .part
    ) throws {
        try add(
            MappedBatch(
                records, by: mapper ?? Mapper(model), as: plan ?? entity, parent: parent, extent: extent),
            location: location)
    }

    /// Maps and deletes the objects of records.
    package func delete(_ records: RecordBatch, location: String?) throws {
        try delete(MappedBatch(records, by: Mapper(model), as: entity), location: location)
    }
}
