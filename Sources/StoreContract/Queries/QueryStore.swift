public import Mapping

/// The committed rows, by conditions, keys and links.
///
/// Each call reads one snapshot, and does not wait for a page that is open. Calls may come from any thread, in any order.
///
/// ```swift
/// let query = RowQuery("City", where: [LocalCondition(field: "name", comparison: .like, value: "U%")], limit: 10)
/// for row in try store.rows(of: query) { print(row.key, row.values) }
/// ```
///
/// Errors are ``StoreError``; of the code `request` for names and values that do not fit the model.
public protocol QueryStore: AnyObject, Sendable {
    /// Returns the rows of a query, which are objects of the entity and its sub-entities.
    func rows(of query: RowQuery) throws -> [EntityRow]

    /// Calls `body` with each row of a query, for results that are too large for memory.
    ///
    /// A store behind a network reads the rows in portions; each portion is a snapshot of its own.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - body: Called for each row in the query's order; an error that it throws ends the reading.
    func rows(of query: RowQuery, _ body: (EntityRow) throws -> Void) throws

    /// Returns the number of rows of a query, ignoring its limit and offset.
    func count(of query: RowQuery) throws -> Int

    /// Returns the rows of an entity with these keys, in no particular order; keys without a row are left out.
    func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow]

    /// Returns the keys of a to-many relationship's targets, by owner and in the relationship's order.
    ///
    /// - Parameters:
    ///   - entity: The index of the entity that has the relationship.
    ///   - relationship: The relationship's index in `EntityLayout.toMany`.
    ///   - owners: The keys of the objects that have the relationship.
    func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]]

    /// Returns which of these objects are stubs.
    func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]>

    /// Parses the values of an object's key.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - texts: One text per attribute of the key, in order; bytes as base64.
    func key(of entity: Int, from texts: [String]) throws -> [StoredValue]
}
