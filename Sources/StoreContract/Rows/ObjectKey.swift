public import Mapping

/// The key of an object of an entity.
public struct ObjectKey: Hashable, Sendable {
    /// The entity's index in the compiled model.
    public var entity: Int
    /// The values of the key.
    public var values: [StoredValue]

    /// Creates a key.
    public init(entity: Int, values: [StoredValue]) {
        self.entity = entity
        self.values = values
    }
}
