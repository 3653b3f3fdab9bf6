public import Mapping

/// The whole content of a database, all of it from one state.
///
/// ```swift
/// try stores.readContent(of: "world.sqlite", model: model) { content in
///     let rows = try content.rows(of: .bookkeeping(.runs))
///     while let row = try rows.next() { print(row) }
/// }
/// ```
///
/// It is valid inside the closure that it is passed to, on that thread. Errors are ``StoreError``.
public protocol ContentReader {
    /// Returns the rows of a table: those of entities by number, links by source and position, bookkeeping by its key.
    ///
    /// Only one table is read at a time: a call ends the rows of the previous one.
    func rows(of table: ContentTable) throws -> any ContentRows
}

/// The rows of a table, one after the other.
///
/// ```swift
/// while let row = try rows.next() { print(row) }
/// ```
///
/// Used on the thread of its ``ContentReader``. Errors are ``StoreError``.
public protocol ContentRows: AnyObject {
    /// Returns the next row; nil after the last one.
    func next() throws -> [StoredValue]?
}

/// A database without rows that is being filled with another one's content, in one transaction.
///
/// ```swift
/// try stores.writeContent(to: "copy.sqlite", model: model) { content in
///     try content.write([[.text("Country"), .text("[\"DE\"]")]], to: .bookkeeping(.stubs))
/// }
/// ```
///
/// It is valid inside the closure that it is passed to, on that thread; what was written can be read there. Errors are
/// ``StoreError``: `constraint` for a value that the kind of database cannot store.
public protocol ContentWriter: ContentReader {
    /// Adds rows to a table.
    func write(_ rows: [[StoredValue]], to table: ContentTable) throws

    /// Returns how the database stores a row, where it has another form for some of the texts that remotes send.
    func stored(_ row: [StoredValue], in table: ContentTable) -> [StoredValue]
}
