public import Mapping
public import Model

/// The committed rows, by conditions, keys and links.
///
/// Each call reads one snapshot, and does not wait for a page that is open.
///
/// ```swift
/// let query = RowQuery("City", where: [LocalCondition(field: "name", comparison: .like, value: "U%")], limit: 10)
/// for row in try store.rows(of: query) { print(row.key, row.values) }
/// ```
///
/// Errors are ``StoreError``; of the code `request` for names and values that do not fit the model.
public protocol QueryStore: AnyObject, Sendable {
    /// Calls `body` with the objects of an entity and its sub-entities that meet all conditions, in key order.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - conditions: Conditions on fields of the entity's layout.
    ///   - limit: The maximum number of rows; nil for all.
    ///   - includesStubs: Whether stubs are included.
    ///   - body: Called for each row, with one value per field of ``EntityLayout/columns``.
    func rows(
        of entity: Int, where conditions: [LocalCondition], limit: Int?, includesStubs: Bool,
        _ body: ([StoredValue]) throws -> Void
    ) throws

    /// Returns the rows of a query.
    func rows(of query: RowQuery) throws -> [EntityRow]

    /// Returns the number of rows of a query, ignoring its limit and offset.
    func count(of query: RowQuery) throws -> Int

    /// Returns the rows of an entity with these keys, in no particular order; keys without a row are left out.
    func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow]

    /// Returns the keys of a to-many relationship's targets, by owner and in the relationship's order.
    ///
    /// - Parameters:
    ///   - entity: The index of the entity that has the relationship.
    ///   - relationship: The relationship's index in ``EntityLayout/toMany``.
    ///   - owners: The keys of the objects that have the relationship.
    func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]]

    /// Returns which of these objects are stubs.
    func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]>

    /// Parses the values of an object's key.
    ///
    /// - Parameter texts: One text per attribute of the key, in order; bytes as base64.
    func key(of entity: Int, from texts: [String]) throws -> [StoredValue]
}

extension QueryStore {
    /// Calls `body` with the objects of an entity that meet all conditions, in key order.
    public func rows(
        of entity: Int, where conditions: [LocalCondition] = [], limit: Int? = nil,
        _ body: ([StoredValue]) throws -> Void
    ) throws {
        try rows(of: entity, where: conditions, limit: limit, includesStubs: true, body)
    }
}
