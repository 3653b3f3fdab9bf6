internal import GRDBSQLite
internal import StoreContract

/// A statement that inserts many rows at once.
///
/// To begin and end a statement costs SQLite a quarter of what an insertion costs, so a table is loaded faster with fewer
/// of them. The first row that violates a constraint ends the statement, and those before it stay: to undo them, SQLite
/// would have to copy each page that it changes, to a temporary file if they are many.
///
/// Use it only inside an access to the connection.
final class RunInsertion {
    /// How many rows the statement inserts.
    let length: Int
    private let statement: RawStatement

    private static let maxLength = 40
    /// The maximum number of values of a statement; each takes memory in it.
    private static let maxValues = 1_000

    /// Returns nil for a table with so many columns that such a statement would save little.
    ///
    /// - Parameters:
    ///   - table: The table, quoted.
    ///   - columns: The columns, quoted, in the order of the rows' cells.
    init?(_ table: String, _ columns: [String], on connection: OpaquePointer?) {
        let limit = connection.map { Int(sqlite3_limit($0, SQLITE_LIMIT_VARIABLE_NUMBER, -1)) } ?? 0
        length = min(Self.maxLength, min(Self.maxValues, limit) / max(1, columns.count))
        guard length >= 8 else { return nil }
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        statement = RawStatement(
            "INSERT OR FAIL INTO \(table) (\(columns.joined(separator: ", "))) VALUES "
                + repeatElement(row, count: length).joined(separator: ", "), on: connection)
    }

    /// Inserts ``length`` rows up to the first one that a constraint forbids; returns how many it inserted.
    ///
    /// - Throws: `StoreError` of other failures.
    func insert(_ rows: ArraySlice<PageRow>) throws -> Int {
        var index: Int32 = 0
        for row in rows {
            for cell in row.cells {
                index += 1
                statement.bind(cell, at: index)
            }
        }
        do {
            return try statement.run()
        } catch let error as StoreError where error.code == .constraint {
            return statement.changes
        }
    }

    /// The rowid of the last row inserted.
    var lastInsertedRow: Int64 { statement.lastInsertedRow }
}
