internal import Mapping
public import StoreContract

/// The changes of the database as they are committed.
extension PostgreSQLStore {
    /// Returns the changes of entities from now on, whichever store commits them.
    ///
    /// - Parameter interval: The time between two questions whether other stores have committed.
    public func changes(of entities: [String], every interval: Duration) throws -> StoreChanges {
        let indexes = entities.isEmpty ? Array(model.entities.indices) : try entities.map(index(of:))
        return StoreChanges(try subscribe(to: indexes, interval), names: model.entities.map(\.name))
    }

    /// Returns the rows of a query and their differences from now on, whichever store changes them.
    ///
    /// - Parameter interval: The time between two questions whether other stores have committed.
    public func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges {
        let index = try index(of: query.entity)
        _ = try count(of: query)
        return QueryChanges(try subscribe(to: [index], interval)) { [self] in
            do {
                return try rows(of: query)
            } catch let error as StoreError where error.code == .internal && isClosed {
                return nil
            }
        }
    }

    /// Returns a number that changes when another store commits.
    public func dataVersion() throws -> Int64 {
        let before = ownCommits
        return try read { $0.counters.version } - before
    }

    private func subscribe(to indexes: [Int], _ interval: Duration) throws -> ChangeWatcher.Subscription {
        guard !isClosed else { return ChangeWatcher.Subscription.ended }
        return try watcher.subscribe(Set(indexes), every: interval)
    }
}
