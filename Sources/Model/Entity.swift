/// A kind of object: a table of the database, filled from one bridge.
public struct Entity: Sendable, Equatable {
    /// The entity's name, which is its table's.
    public var name: String
    /// The name, in the configuration, of the bridge that brings its records.
    public var bridge: String
    /// The attributes that identify an object; at least one.
    public var key: [String]
    /// The attributes, in the order of the file.
    public var attributes: [Attribute]
    /// The relationships, in the order of the file.
    public var relationships: [Relationship]
    /// What the bridge's plugin needs to know of this entity: always an object, maybe an empty one.
    public var section: ConfigValue
    /// Where the file declares the entity.
    public var location: SourceLocation

    /// An entity; nothing is checked.
    public init(
        name: String, bridge: String, key: [String], attributes: [Attribute], relationships: [Relationship] = [],
        section: ConfigValue = .object([]), location: SourceLocation = .unknown
    ) {
        self.name = name
        self.bridge = bridge
        self.key = key
        self.attributes = attributes
        self.relationships = relationships
        self.section = section
        self.location = location
    }

    /// The attribute called `name`.
    public func attribute(named name: String) -> Attribute? {
        attributes.first { $0.name == name }
    }

    /// The relationship called `name`.
    public func relationship(named name: String) -> Relationship? {
        relationships.first { $0.name == name }
    }

    /// The attributes of the key, in the key's order.
    public var keyAttributes: [Attribute] {
        key.compactMap { attribute(named: $0) }
    }
}
