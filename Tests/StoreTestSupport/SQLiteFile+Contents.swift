package import ImportTestSupport
internal import Mapping
package import StoreContract

extension SQLiteFile {
    /// Creates a file with tables' contents, so that SQL can ask any store what it holds.
    package convenience init(_ tables: [TableContents], at path: String) throws {
        try self.init(path, creates: true)
        for table in tables {
            let name = "\"\(table.name)\""
            try rows("CREATE TABLE \(name) (\(table.columns.map { "\"\($0)\"" }.joined(separator: ", ")))")
            for row in table.rows {
                try rows("INSERT INTO \(name) VALUES (\(row.map(Self.sql).joined(separator: ", ")))")
            }
        }
    }

    private static func sql(_ value: StoredValue) -> String {
        guard case .text(let text) = value.form else { return value.literal }
        return "'\(text.replacing("'", with: "''"))'"
    }
}
