/// A field of remote records that nothing reads.
public struct UnknownFieldRecord: Sendable, Equatable {
    /// The entity whose records have the field.
    public var entity: String
    /// The field's dot path.
    public var path: String

    /// Creates a field.
    package init(entity: String, path: String) {
        self.entity = entity
        self.path = path
    }
}
