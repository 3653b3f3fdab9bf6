internal import Mapping
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// Rows as JSON and as CSV, in the forms of `bmo list`.
enum RowExport {
    /// Returns rows as a JSON array of objects.
    static func json(_ rows: [EntityRow], _ layout: EntityLayout) -> String {
        "[" + rows.map { object($0.values, layout) }.joined(separator: ",\n ") + "]\n"
    }

    private static func object(_ values: [StoredValue], _ layout: EntityLayout) -> String {
        RecordBatchWriter.json { writer in
            for (field, value) in zip(layout.columns, values) {
                writer.key(field.name)
                OutgoingValue.local(value, field.type).write(to: writer)
            }
        }
    }

    /// Returns rows as CSV (RFC 4180) with a line of names.
    static func csv(_ rows: [EntityRow], _ layout: EntityLayout) -> String {
        let lines =
            [layout.columns.map(\.name)]
            + rows.map { row in zip(row.values, layout.columns).map { ValueText.typed($0, $1.type) } }
        return lines.map { $0.csvLine + "\r\n" }.joined()
    }
}
