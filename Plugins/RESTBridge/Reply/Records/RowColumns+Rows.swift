internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

extension RowColumns {
    /// The members that hold an object's name, if the names are objects.
    private static let nameMembers = ["name", "Name", "column_name", "field", "key", "id"]

    /// Returns the names from this reply, or nil if it has none.
    func names(in body: HTTPExchange.PaddedBody) throws -> [String]? {
        switch self {
        case .names(let names): return names
        case .path(let path):
            guard let batch = try PageReader.records(at: path, in: body, takesAny: true), batch.count > 0 else {
                return nil
            }
            let names = (0..<batch.count).map { Self.name(batch[$0]) }
            return withExtendedLifetime(batch) { names.contains(nil) ? nil : names.compactMap(\.self) }
        }
    }

    private static func name(_ value: BatchValue) -> String? {
        value.text ?? nameMembers.lazy.compactMap { value[$0]?.text }.first
    }

    /// Writes a row as an object.
    ///
    /// - Parameter fields: Members to add to each record, unless a column has the same name.
    static func write(
        _ row: BatchValue, names: [String], fields: [(name: String, value: String)], to writer: RecordBatchWriter
    ) {
        // Copy a row that is too long unchanged: the host stores it with the reason, and no value gets a wrong name.
        guard row.tag == .array, row.count <= names.count else {
            return writer.copy(row)
        }
        let values = Array(row.elements)
        writer.object {
            for (name, value) in fields where !names.contains(name) {
                writer.key(name)
                writer.text(value)
            }
            for (name, value) in zip(names, values) {
                writer.key(name)
                writer.copy(value)
            }
        }
    }

    /// Whether a row holds just the column names.
    static func areNames(_ row: BatchValue, _ names: [String]) -> Bool {
        row.tag == .array && row.count == names.count && zip(row.elements, names).allSatisfy { $0.text == $1 }
    }
}
