public import Mapping

/// A parent object, for which a scan lists its children.
public struct ParentRow: Sendable {
    /// The rowid.
    public var row: Int64
    /// The values, one per field of the entity's layout.
    public var values: [StoredValue]

    /// Creates a row.
    package init(row: Int64, values: [StoredValue]) {
        self.row = row
        self.values = values
    }
}
