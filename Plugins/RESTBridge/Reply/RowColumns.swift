internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch

/// What the values of records are called that come as arrays, `[1, "Paris"]`, with their names said once for all.
enum RowColumns: Sendable {
    /// Where the reply has the names: a list of texts, or of objects that have a name.
    case path(JSONPath)
    case names([String])

    /// What objects call their name, where the names are more than texts.
    private static let nameMembers = ["name", "Name", "column_name", "field", "key", "id"]

    /// - Returns: nil where the section has none.
    init?(_ section: BridgeOptions) throws {
        guard section.has("columns") else { return nil }
        if let text = section.string("columns") {
            guard text.hasPrefix("$") else {
                throw BridgeError(
                    .configuration, "columns is \"\(text)\"",
                    remedy: "write where the reply has the columns' names, such as $.columns, or a list of names")
            }
            self = .path(try JSONPath(text, option: "columns"))
        } else {
            self = .names(section.strings("columns"))
        }
    }

    /// The names as this reply has them; nil where it has none.
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

    /// Writes a row as an object; whether it was one, and not the row of the names themselves.
    ///
    /// - Parameter fields: Members that each record gets where no column has their name.
    static func write(
        _ row: BatchValue, names: [String], fields: [(name: String, value: String)], to writer: RecordBatchWriter
    ) -> Bool {
        // What does not fit is handed on as it is: the host keeps it, with the reason, and no value gets a wrong name.
        guard row.tag == .array, row.count <= names.count else {
            writer.copy(row)
            return true
        }
        let values = Array(row.elements)
        if values.count == names.count, zip(values, names).allSatisfy({ $0.text == $1 }) { return false }
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
        return true
    }
}
