/// A field of remote records that nothing reads.
public struct UnknownField: Hashable, Sendable {
    /// The index of the entity whose records have it.
    public let entity: Int
    /// The field's dot path.
    public let path: String

    /// Creates a field.
    public init(entity: Int, path: String) {
        self.entity = entity
        self.path = path
    }
}
