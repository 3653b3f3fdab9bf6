/// The changes of a database as they are committed, by this process or any other.
///
/// ```swift
/// for await change in try store.changes(of: "Country") { refresh() }
/// ```
///
/// Calls may come from any thread; a sequence has one consumer, and is best begun before the rows are read first. The
/// sequences end when the store is closed or the task is cancelled. Errors are ``StoreError``.
public protocol ChangeFeed: AnyObject, Sendable {
    /// Returns the changes of entities from now on; see ``StoreChanges``.
    ///
    /// - Parameters:
    ///   - entities: The entities' names; empty for all.
    ///   - interval: The interval for polling the database for other writers. Imports by this process are notified at
    ///     once.
    /// - Throws: ``StoreError`` of code `request` for an unknown entity.
    func changes(of entities: [String], every interval: Duration) throws -> StoreChanges

    /// Returns the rows of a query and their differences from now on; see ``QueryChanges``.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - interval: As in ``changes(of:every:)``.
    /// - Throws: ``StoreError`` of code `request` for an unknown entity or field.
    func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges

    /// Returns a number that changes when another connection commits; cheap enough for several calls a second.
    func dataVersion() throws -> Int64
}

extension ChangeFeed {
    /// Returns the changes of entities from now on, whichever process commits them; without names, those of all.
    public func changes(of entities: String..., every interval: Duration = .milliseconds(100)) throws -> StoreChanges {
        try changes(of: entities, every: interval)
    }

    /// Returns the rows of a query and their differences from now on, whichever process changes them.
    public func observe(_ query: RowQuery) throws -> QueryChanges {
        try observe(query, every: .milliseconds(100))
    }
}
