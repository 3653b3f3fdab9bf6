internal import Mapping
package import StoreContract

/// The changes of the database as they are committed.
extension TableStore {
    /// Returns the changes of entities from now on, whichever store commits them.
    package func changes(of entities: [String], every interval: Duration) throws -> StoreChanges {
        let indexes = entities.isEmpty ? Array(model.entities.indices) : try entities.map(index(of:))
        return StoreChanges(try subscribe(to: indexes, every: interval), names: model.entities.map(\.name))
    }

    /// Returns the rows of a query and their differences from now on, whichever store changes them.
    package func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges {
        let index = try index(of: query.entity)
        _ = try count(of: query)
        return QueryChanges(try subscribe(to: [index], every: interval)) { [self] in
            do {
                return try rows(of: query)
            } catch let error as StoreError where error.code == .internal && isClosed {
                return nil
            }
        }
    }
}
