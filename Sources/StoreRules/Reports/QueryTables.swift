package import Mapping
package import Model
package import StoreContract

/// The rows of a database by conditions; see ``DatabaseTables``.
package protocol QueryTables: AnyObject {
    /// The number of rows that one call of ``rows(of:on:)`` should return at most.
    static var portion: Int { get }

    /// Returns the rows of a query, stubs included.
    ///
    /// - Throws: `StoreError` of the code `request` for names and values that do not fit the entity.
    func rows(of query: RowQuery, on layout: EntityLayout) throws -> [EntityRow]

    /// Returns the number of rows of a query, stubs included, ignoring its limit and offset.
    func count(of query: RowQuery, on layout: EntityLayout) throws -> Int

    /// Returns the number of a table's rows.
    func count(of root: Int) throws -> Int

    /// Returns the greatest number of a table's rows; 0 without rows.
    func lastNumber(in root: Int) throws -> Int64

    /// Returns rows that meet conditions and are not marked as deleted, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - layout: The entity.
    ///   - number: Returns only rows after this one.
    func rows(
        on layout: EntityLayout, where conditions: [LocalCondition], afterNumber number: Int64, limit: Int
    ) throws -> [NumberedRow]

    /// Returns texts of the column of unknown fields that are not null: JSON objects, in the order of the rows.
    func extraTexts(of layout: EntityLayout, limit: Int) throws -> [String]
}

/// A row with its number and key.
package struct NumberedRow {
    package var number: Int64
    package var key: RowKey
    /// One value per field of the table.
    package var values: [StoredValue]

    package init(number: Int64, key: RowKey, values: [StoredValue]) {
        self.number = number
        self.key = key
        self.values = values
    }
}
