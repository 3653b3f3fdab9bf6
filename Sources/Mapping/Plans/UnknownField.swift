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

    /// Returns whether two fields have the same entity and the same path, byte by byte, as records have them.
    public static func == (left: UnknownField, right: UnknownField) -> Bool {
        left.entity == right.entity && ExactText(left.path) == ExactText(right.path)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entity)
        hasher.combine(ExactText(path))
    }
}
