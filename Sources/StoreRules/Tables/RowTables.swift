package import Mapping

/// The rows of an open transaction, and which of them are stubs.
///
/// `root` is the index of the entity that has the table. One thread uses the tables at a time.
package protocol RowTables: RowIteration {
    /// The model, whose tables the store has.
    var model: CompiledModel { get }

    /// Whether the transaction can only be rolled back after an error; where it cannot tell, a store says no.
    var isBroken: Bool { get }

    /// Returns a row, with one value per field of the table; nil if there is none with this key.
    func row(_ root: Int, _ key: RowKey) throws -> [StoredValue]?

    /// Returns the number of the row that has all values of a page's row already; nil if it has not, or if its object has
    /// more than the row that a merge may change: a mark as a stub, records of its sources, or edits.
    ///
    /// A store may return nil also where it cannot tell at once: the merge then finds out.
    func numberOfSameRow(_ root: Int, as cells: UnsafeBufferPointer<Cell>) -> Int64?

    /// Inserts a page's row and returns its number; nil if the table may have one with this key, or if a store cannot tell
    /// at once: the merge then finds out.
    ///
    /// Nor may the object have what ``numberOfSameRow(_:as:)`` names.
    func insertNewRow(_ root: Int, _ cells: UnsafeBufferPointer<Cell>) throws -> Int64?

    /// Whether there may be local edits of any object, be they waiting or accepted during a scan.
    var mayHaveEdits: Bool { get }

    /// Returns the number of a row: rows keep theirs, and later rows usually have greater ones.
    func number(of key: RowKey, in root: Int) throws -> Int64?

    /// Returns the key of the row with a number; nil if there is none.
    func key(ofRow number: Int64, in root: Int) throws -> RowKey?

    /// Returns the number that the next row without a key gets.
    func nextNumber(in root: Int) throws -> Int64

    /// Inserts a row, or replaces the one with this key.
    func write(_ root: Int, _ key: RowKey, _ values: [StoredValue]) throws

    /// Deletes a row, if it exists.
    func erase(_ root: Int, _ key: RowKey) throws

    /// Returns whether the table has no rows.
    func isEmpty(_ root: Int) throws -> Bool

    /// Returns the keys of the rows whose to-one relationship refers to a key, in the order of their numbers.
    func referrers(_ root: Int, _ toOne: Int, to key: RowKey) throws -> [RowKey]

    /// Returns the least value of a column of integers; null without rows.
    func leastValue(of field: Int, in root: Int) throws -> StoredValue

    /// Returns the rows in a scan's scope that it has not listed, in the order of their numbers, and the number of all
    /// rows in the scope.
    ///
    /// A scan by parents calls it for each of them, so a store must find the rows of one parent by an index.
    ///
    /// - Parameter isCounted: Whether all rows are counted also if none is unlisted; the number may be 0 otherwise.
    func unlistedRows(
        of root: Int, in scope: SweepScope, notIn log: ScanLog, isCounted: Bool
    ) throws -> (rows: [(number: Int64, key: RowKey)], total: Int)

    /// Returns the keys of a table's stubs.
    func stubs(of root: Int) throws -> [RowKey]

    /// Returns whether a key is that of a stub.
    func isStub(_ root: Int, _ key: RowKey) throws -> Bool

    /// Adds a key to the stubs, or removes it; returns whether that changed anything.
    func setStub(_ root: Int, _ key: RowKey, _ isStub: Bool) throws -> Bool
}

extension RowTables {
    package var isBroken: Bool { false }
    package var mayHaveEdits: Bool { true }

    /// Leaves it to the merge.
    package func numberOfSameRow(_ root: Int, as cells: UnsafeBufferPointer<Cell>) -> Int64? { nil }

    /// Leaves it to the merge.
    package func insertNewRow(_ root: Int, _ cells: UnsafeBufferPointer<Cell>) throws -> Int64? { nil }

    /// Returns the layout of the table that holds an entity's objects.
    package func layout(of entity: Int) -> EntityLayout { model.entities[model.entities[entity].root] }
}

extension RowTables {
    /// Returns the least value of a column of integers, by reading all rows.
    package func leastValue(of field: Int, in root: Int) throws -> StoredValue {
        var least: Int64?
        try forEachRow(of: root) { _, _, row in
            if case .integer(let value) = row[field] { least = min(least ?? value, value) }
        }
        return least.map { .integer($0) } ?? .null
    }
}
