public import StoreContract
internal import GRDB
internal import Mapping

extension SQLiteStore {
    /// Returns the changes of entities from now on, whichever process commits them; see `StoreChanges`.
    ///
    /// ```swift
    /// for await change in try store.changes(of: "Country") { refresh() }
    /// ```
    ///
    /// - Parameters:
    ///   - entities: The entities' names; empty for all.
    ///   - interval: The interval for polling the file for other writers. Imports by this process are notified at once.
    /// - Throws: `StoreError` of code `request` for an unknown entity.
    public func changes(
        of entities: [String], every interval: Duration
    ) throws -> StoreChanges {
        let indexes = entities.isEmpty ? Array(model.entities.indices) : try entities.map(model.knownIndex(of:))
        return StoreChanges(
            watcher.subscribe(to: Set(indexes), every: interval), names: model.entities.map(\.name))
    }

    /// Returns the rows of a query and their differences from now on, whichever process changes them; see
    /// `QueryChanges`.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - interval: The interval for polling the file for other writers. Imports by this process are notified at once.
    /// - Throws: `StoreError` of code `request` for an unknown entity or field.
    public func observe(_ query: RowQuery, every interval: Duration = .milliseconds(100)) throws -> QueryChanges {
        let compiled = try CompiledQuery(query, model)
        return QueryChanges(watcher.subscribe(to: [compiled.entity], every: interval)) { [self] in
            do {
                return try await watcher.run { [self] in
                    try read("reading \(query.entity)") { try compiled.rows(in: $0) }
                }
            } catch let error as StoreError where error.code == .internal && isClosed {
                return nil
            }
        }
    }

    /// Calls `body` with the change indicators of the writer's connection, on that connection.
    func look(_ body: (ChangeWatcher.Mark) -> Void) {
        try? writer.writeWithoutTransaction { db in
            let version = try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0
            body(ChangeWatcher.Mark(version: version, changes: db.isInsideTransaction ? nil : totalChanges(db)))
        }
    }

    /// Returns how many rows the writer's connection has ever changed.
    func totalChanges(_ db: Database) -> Int64 { RawStatement.totalChanges(db.sqliteConnection) }
}
