internal import Mapping
public import StoreContract

/// The changes of the database as they are committed.
extension MemoryStore {
    /// Returns the changes of entities from now on, whichever store commits them.
    ///
    /// - Parameter interval: Not used: every commit is notified at once.
    public func changes(of entities: [String], every interval: Duration) throws -> StoreChanges {
        let indexes = entities.isEmpty ? Array(model.entities.indices) : try entities.map(index(of:))
        return StoreChanges(subscribe(to: indexes), names: model.entities.map(\.name))
    }

    /// Returns the rows of a query and their differences from now on, whichever store changes them.
    ///
    /// - Parameter interval: Not used: every commit is notified at once.
    public func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges {
        let index = try index(of: query.entity)
        _ = try count(of: query)
        return QueryChanges(subscribe(to: [index])) { [self] in
            do {
                return try rows(of: query)
            } catch let error as StoreError where error.code == .internal && isClosed {
                return nil
            }
        }
    }

    /// Returns a number that changes when another store commits.
    public func dataVersion() throws -> Int64 { foreignCommits }

    private func subscribe(to indexes: [Int]) -> MemorySubscription {
        let names = Dictionary(indexes.map { (model.entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        let subscription = MemorySubscription(names, by: id)
        if isClosed { subscription.finish() } else { database.add(subscription) }
        return subscription
    }
}
