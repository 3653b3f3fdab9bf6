internal import GRDBSQLite

/// A database file as another program sees it: SQLite's C interface, none of our code.
package final class SQLiteFile {
    /// What SQLite refused.
    package struct Refusal: Error, CustomStringConvertible {
        /// SQLite's result code.
        package let code: Int32
        /// SQLite's words.
        package let description: String
    }

    private let connection: OpaquePointer?

    /// Opens the file, which must exist unless `creates`.
    package init(_ path: String, creates: Bool = false) throws {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
        let status = sqlite3_open_v2(path, &connection, flags, nil)
        guard status == SQLITE_OK else {
            sqlite3_close_v2(connection)
            throw Refusal(code: status, description: String(cString: sqlite3_errstr(status)))
        }
        self.connection = connection
    }

    deinit { sqlite3_close_v2(connection) }

    /// Runs one statement and returns its rows, values as SQL writes them.
    @discardableResult
    package func rows(_ sql: String) throws -> [[String]] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var rows: [[String]] = []
        while true {
            let status = sqlite3_step(statement)
            guard status == SQLITE_ROW else {
                if status != SQLITE_DONE { try check(status) }
                return rows
            }
            rows.append((0..<sqlite3_column_count(statement)).map { literal(statement, $0) })
        }
    }

    /// The first value of the first row; `null` where there is none.
    package func value(_ sql: String) throws -> String { try rows(sql).first?.first ?? "null" }

    /// A table as text: a line of column names, then a line per row in the order of `order`.
    package func table(_ name: String, order: String = "1, 2") throws -> String {
        let columns = try rows("SELECT name FROM pragma_table_info('\(name)') ORDER BY cid").map {
            $0[0].filter { $0 != "'" }
        }
        let order = columns.count > 1 ? order : "1"
        let lines = try rows("SELECT * FROM \"\(name)\" ORDER BY \(order)").map { $0.joined(separator: " | ") }
        return ([columns.joined(separator: " | ")] + lines).joined(separator: "\n")
    }

    /// What SQLite finds wrong with the file, empty when nothing is.
    package func faults() throws -> [String] {
        let integrity = try rows("PRAGMA integrity_check").map { $0.joined(separator: " ") }.filter { $0 != "'ok'" }
        let keys = try rows("PRAGMA foreign_key_check").map { "dangling: " + $0.joined(separator: " ") }
        return integrity + keys
    }

    private func literal(_ statement: OpaquePointer?, _ column: Int32) -> String {
        let count = Int(sqlite3_column_bytes(statement, column))
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return "\(sqlite3_column_int64(statement, column))"
        case SQLITE_FLOAT: return "\(sqlite3_column_double(statement, column))"
        case SQLITE_TEXT:
            let start = UnsafeRawPointer(sqlite3_column_text(statement, column))
            let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
            return "'\(text.escaped)'"
        case SQLITE_BLOB:
            let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
            return "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        default: return "null"
        }
    }

    private func check(_ status: Int32) throws {
        guard status != SQLITE_OK else { return }
        throw Refusal(code: status, description: String(cString: sqlite3_errmsg(connection)))
    }
}
