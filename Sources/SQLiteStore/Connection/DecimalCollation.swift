internal import GRDB
internal import GRDBSQLite
internal import Mapping

/// The collation of queries on decimals, which are stored as texts: SQLite has no numbers with all of their digits.
///
/// Only statements name it, so that other programs can use the tables without it.
enum DecimalCollation {
    static let name = "bmo_decimal"

    /// Defines the collation for the statements of a connection.
    static func add(to db: Database) throws {
        let status = sqlite3_create_collation_v2(
            db.sqliteConnection, name, SQLITE_UTF8, nil,
            { _, leftCount, left, rightCount, right in
                let order = DecimalOrder.compare(
                    UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
                    UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
                return Int32(clamping: order)
            }, nil)
        guard status == SQLITE_OK else {
            throw SQLiteFailure.error(db.sqliteConnection, status, "defining the order of decimals")
        }
    }
}
