internal import BridgeContract
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// An object whose children are fetched.
struct ParentObject: Sendable {
    /// The index of the relationship that leads to the object; nil where it is the fetched object itself.
    let relationship: Int?
    let key: [StoredValue]
    /// The key as a JSON array.
    let text: String
    /// Its values by local names, as a batch of one object.
    let values: RecordBatch
    /// Its values in the form of a request.
    var options: BridgeOptions? { BridgeOptions(batch: values) }

    init(_ values: [StoredValue], _ layout: EntityLayout, relationship: Int?) throws {
        self.relationship = relationship
        key = layout.key.map { values[$0] }
        text = JSONText.key(key).string
        let writer = RecordBatchWriter()
        writer.object {
            for (field, value) in zip(layout.fields, values) {
                writer.key(field.name)
                switch value.form {
                case .null: writer.null()
                case .integer(let value) where field.type == .boolean: writer.bool(value != 0)
                case .integer(let value): writer.int64(value)
                case .real(let value): writer.double(value)
                case .text(let value): writer.text(value)
                case .bytes(let value): value.withUnsafeBytes { writer.bytes($0) }
                }
            }
        }
        self.values = try writer.finish()
    }
}
