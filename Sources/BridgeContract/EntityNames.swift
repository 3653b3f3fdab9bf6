/// The local names of an entity, against which a bridge validates the names that a section uses.
public struct EntityNames: Sendable, Equatable {
    /// The members of the entity's objects: attributes, and the columns of to-one relationships.
    public var fields: [String]
    /// The parts of the key; empty if the objects have no key.
    public var key: [String]
    /// The names that an update may set inside nested objects, if the entity has no `read_one` to read these first.
    public var nested: [String]

    /// Creates the names.
    public init(fields: [String], key: [String], nested: [String] = []) {
        self.fields = fields
        self.key = key
        self.nested = nested
    }
}
