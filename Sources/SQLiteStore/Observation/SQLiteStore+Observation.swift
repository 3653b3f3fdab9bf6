internal import GRDB
internal import Mapping

extension SQLiteStore {
    /// The changes of entities from now on, whichever process commits them; see ``StoreChanges``.
    ///
    /// ```swift
    /// for await change in try store.changes(of: "Country") { refresh() }
    /// ```
    ///
    /// - Parameters:
    ///   - entities: Their names; none means all.
    ///   - interval: How often the file is looked at for what others write. What this process imports is told at once.
    /// - Throws: ``StoreError`` of the code `request` for an entity that is not there.
    public func changes(
        of entities: String..., every interval: Duration = .milliseconds(100)
    ) throws -> StoreChanges {
        let indexes = entities.isEmpty ? Array(model.entities.indices) : try entities.map(model.observedIndex(of:))
        return StoreChanges(
            subscription: watcher.subscribe(to: Set(indexes), every: interval), names: model.entities.map(\.name))
    }

    /// The rows of a query and their differences from now on, whichever process changes them; see ``QueryChanges``.
    ///
    /// - Parameters:
    ///   - query: Which rows, in which order.
    ///   - interval: How often the file is looked at for what others write. What this process imports is told at once.
    /// - Throws: ``StoreError`` of the code `request` for an entity or field that is not there.
    public func observe(_ query: RowQuery, every interval: Duration = .milliseconds(100)) throws -> QueryChanges {
        let compiled = try CompiledQuery(query, model)
        return QueryChanges(
            store: self, query: compiled,
            subscription: watcher.subscribe(to: [compiled.entity], every: interval))
    }

    /// Hands what the writer's connection knows of changes to `body`, on that connection.
    func look(_ body: (ChangeWatcher.Mark) -> Void) {
        try? writer.writeWithoutTransaction { db in
            let version = try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0
            body(ChangeWatcher.Mark(version: version, changes: db.isInsideTransaction ? nil : totalChanges(db)))
        }
    }

    /// How many rows the writer's connection ever wrote.
    func totalChanges(_ db: Database) -> Int64 { RawStatement.totalChanges(db.sqliteConnection) }
}
