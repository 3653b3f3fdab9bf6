package import Mapping

/// The values of a row's key; for an entity without a key, the row's number.
package typealias RowKey = [StoredValue]

/// A column's name with a value.
package typealias NamedValue = (name: String, value: StoredValue)

/// A row, by the entity that has the table and its key.
package struct RowReference: Hashable, Sendable {
    package var root: Int
    package var key: RowKey

    package init(root: Int, key: RowKey) {
        self.root = root
        self.key = key
    }
}
