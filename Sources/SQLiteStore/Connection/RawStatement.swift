internal import GRDBSQLite
internal import Mapping
internal import Model
internal import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A statement on GRDB's connection that binds cells without copying: the hot path.
///
/// SQLite compiles it at its first use, as most runs need only a few of the statements that a store has.
/// Use it only inside an access to the connection. Bound memory must live until the next `step` has returned.
final class RawStatement {
    private let sql: String
    private let connection: OpaquePointer?
    /// The compiled statement; nil before the first use.
    private var compiled: OpaquePointer?
    private var bindStatus = SQLITE_OK

    init(_ sql: String, on connection: OpaquePointer?) {
        self.sql = sql
        self.connection = connection
    }

    deinit { sqlite3_finalize(compiled) }

    /// The compiled statement; nil if SQLite refuses to compile it, which the next `step` throws.
    @inline(__always)
    private var handle: OpaquePointer? { compiled ?? compile() }

    @inline(never)
    private func compile() -> OpaquePointer? {
        // Not into the variable itself: Swift would then check each access to it at run time.
        var statement: OpaquePointer?
        let status = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        compiled = statement
        // A value that is bound meanwhile is lost, also if the next attempt succeeds.
        note(status)
        return compiled
    }

    @inline(__always)
    func bind(_ cell: Cell, at index: Int32) {
        beginBinding(index)
        switch cell.storage {
        case .absent, .null: sqlite3_bind_null(handle, index)
        case .integer: sqlite3_bind_int64(handle, index, cell.integer)
        case .real: sqlite3_bind_double(handle, index, cell.real)
        case .text:
            let bytes = cell.rawBytes
            // A null pointer would bind NULL, and an empty text is not NULL.
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            if let start {
                note(sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
            } else {
                bindEmptyText(index)
            }
        case .bytes:
            let bytes = cell.rawBytes
            if let start = bytes.baseAddress {
                note(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil))
            } else {
                note(sqlite3_bind_zeroblob(handle, index, 0))
            }
        }
    }

    func bind(_ value: Int64, at index: Int32) {
        beginBinding(index)
        sqlite3_bind_int64(handle, index, value)
    }

    func bind(optional value: Int64?, at index: Int32) {
        if let value { return bind(value, at: index) }
        beginBinding(index)
        sqlite3_bind_null(handle, index)
    }

    func bind(_ value: String?, at index: Int32) {
        beginBinding(index)
        guard let value else {
            sqlite3_bind_null(handle, index)
            return
        }
        note(sqlite3_bind_text64(handle, index, value, UInt64(value.utf8.count), Self.transient, UInt8(SQLITE_UTF8)))
    }

    /// Binds a copy of UTF-8 text.
    func bind(utf8 bytes: [UInt8], at index: Int32) {
        beginBinding(index)
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else {
                bindEmptyText(index)
                return
            }
            let status = sqlite3_bind_text64(
                handle, index, start, UInt64(bytes.count), Self.transient, UInt8(SQLITE_UTF8))
            note(status)
        }
    }

    /// Records the first failure to compile or to bind, so that the next step throws.
    ///
    /// SQLite does not bind a value over its limit of 1 GB or without memory for it; the column would become null.
    @inline(__always)
    private func note(_ status: Int32) {
        if status != SQLITE_OK, bindStatus == SQLITE_OK { bindStatus = status }
    }

    /// Clears an earlier failure at the first index, as values are bound in order.
    @inline(__always)
    private func beginBinding(_ index: Int32) {
        if index == 1 { bindStatus = SQLITE_OK }
    }

    private func bindEmptyText(_ index: Int32) { note(sqlite3_bind_text(handle, index, "", 0, Self.transient)) }

    /// `SQLITE_TRANSIENT`, which Swift's C importer omits.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Returns why the statement cannot run: SQLite does not compile it, or has not bound a value.
    @inline(never)
    private func refusal() -> StoreError {
        defer { bindStatus = SQLITE_OK }
        guard compiled != nil else {
            return SQLiteFailure.error(connection, sqlite3_errcode(connection), "preparing \(sql)")
        }
        return SQLiteFailure.error(
            code: bindStatus, words: String(cString: sqlite3_errstr(bindStatus)), action: "binding a value")
    }

    /// Steps to the next row; returns whether there is one.
    ///
    /// Call ``reset()`` when done.
    @inline(__always)
    func step() throws -> Bool {
        guard let handle, bindStatus == SQLITE_OK else { throw refusal() }
        let status = sqlite3_step(handle)
        if status == SQLITE_ROW { return true }
        if status == SQLITE_DONE { return false }
        let error = SQLiteFailure.error(connection, status, "running \(sql)")
        sqlite3_reset(handle)
        throw error
    }

    /// Runs a statement that returns no rows; returns the number of rows changed.
    @inline(__always)
    @discardableResult
    func run() throws -> Int {
        defer { sqlite3_reset(compiled) }
        _ = try step()
        return changes
    }

    /// The number of rows that the last statement of the connection changed, which may have failed after some.
    var changes: Int { Int(sqlite3_changes(connection)) }

    /// The rowid of the last row inserted on the connection.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// Returns how many rows a connection has ever changed, including changes rolled back.
    static func totalChanges(_ connection: OpaquePointer?) -> Int64 { sqlite3_total_changes64(connection) }

    @inline(__always)
    func reset() { sqlite3_reset(compiled) }

    func bind(_ value: StoredValue, at index: Int32) {
        beginBinding(index)
        switch value.form {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .real(let value): sqlite3_bind_double(handle, index, value)
        case .text(let value): bind(value, at: index)
        case .bytes(let value):
            note(sqlite3_bind_blob64(handle, index, value, UInt64(value.count), Self.transient))
        }
    }

    /// Returns a copy of a column of the current row, without the type that only the model knows.
    func value(_ column: Int32) -> StoredValue { StoredValue(form(column), as: .text) }

    /// Returns copies of consecutive columns of the current row, as values of the fields' types.
    func values(of fields: some Sequence<EntityLayout.Field>, at first: Int32 = 0) -> [StoredValue] {
        zip(first..., fields).map { StoredValue(form($0), as: $1.type) }
    }

    /// Returns a copy of a column of the current row.
    private func form(_ column: Int32) -> StorageForm {
        switch sqlite3_column_type(compiled, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(compiled, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(compiled, column))
        case SQLITE_TEXT:
            let start = UnsafeRawPointer(sqlite3_column_text(compiled, column))
            let count = Int(sqlite3_column_bytes(compiled, column))
            return .text(String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(compiled, column))
            return .bytes(Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(compiled, column), count: count)))
        default: return .null
        }
    }

    /// Returns whether a column of the current row is null.
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(compiled, column) == SQLITE_NULL }

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(compiled, column) }

    /// Returns the integer in a column; nil if it holds another type.
    func optionalInt64(_ column: Int32) -> Int64? {
        sqlite3_column_type(compiled, column) == SQLITE_INTEGER ? sqlite3_column_int64(compiled, column) : nil
    }

    /// Returns the text in a column; nil if it holds another type.
    func text(_ column: Int32) -> String? { if case .text(let text) = form(column) { text } else { nil } }

    /// Returns whether a column of the current row equals the cell; an absent cell matches everything.
    @inline(__always)
    func matches(_ cell: Cell, column: Int32) -> Bool {
        if cell.kind == .absent { return true }
        // Fetches the column once instead of three times. GRDB's connections are in multi-thread mode, in which
        // SQLite's "unprotected" values are safe to use like protected ones (sqlite.org/c3ref/value.html).
        let value = sqlite3_column_value(compiled, column)
        let type = sqlite3_value_type(value)
        switch cell.storage {
        case .absent: return true
        case .null: return type == SQLITE_NULL
        case .integer: return type == SQLITE_INTEGER && sqlite3_value_int64(value) == cell.integer
        case .real: return type == SQLITE_FLOAT && sqlite3_value_double(value) == cell.real
        case .text:
            guard type == SQLITE_TEXT else { return false }
            let start = UnsafeRawPointer(sqlite3_value_text(value))
            return same(start, Int(sqlite3_value_bytes(value)), cell.rawBytes)
        case .bytes:
            guard type == SQLITE_BLOB else { return false }
            let start = sqlite3_value_blob(value)
            return same(start, Int(sqlite3_value_bytes(value)), cell.rawBytes)
        }
    }

    @inline(__always)
    private func same(_ start: UnsafeRawPointer?, _ count: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard count == bytes.count else { return false }
        guard count > 0, let start, let other = bytes.baseAddress else { return true }
        return memcmp(start, other, count) == 0
    }
}
