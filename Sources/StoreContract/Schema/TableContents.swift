public import Mapping

/// All rows of one of a database's tables, for comparison with expected contents.
public struct TableContents: Sendable {
    /// The table.
    public var name: String
    /// The column names, in order.
    public var columns: [String]
    /// The indexes of the primary key's columns in `columns`; empty if the table has no primary key.
    public var key: [Int]
    /// The rows in key order.
    public var rows: [[StoredValue]]

    /// Creates contents.
    package init(name: String, columns: [String], key: [Int], rows: [[StoredValue]]) {
        self.name = name
        self.columns = columns
        self.key = key
        self.rows = rows
    }
}
