public import Mapping

/// A row of an entity.
public struct EntityRow: Sendable, Hashable {
    /// The values of the key, which identifies the object.
    public var key: [StoredValue]
    /// The values, one per column of the entity, in the order of `EntityLayout.columns`.
    public var values: [StoredValue]

    /// Creates a row.
    public init(key: [StoredValue], values: [StoredValue]) {
        self.key = key
        self.values = values
    }
}
