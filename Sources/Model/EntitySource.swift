/// A further bridge behind an entity, which brings some of its attributes: a list comes from one, details from another.
public struct EntitySource: Sendable, Equatable {
    /// The name by which `precedence` and messages call the entity's own bridge.
    public static let mainName = "main"

    /// The source's name, not ``mainName``.
    public var name: String
    /// The name, in the configuration, of the bridge that brings its records.
    public var bridge: String
    /// The attributes that it brings, with its own mapping; those of the key are among them.
    public var attributes: [Attribute]
    /// The relationships that it brings, with its own mapping.
    public var relationships: [Relationship]
    /// What the bridge's plugin needs to know: always an object, maybe an empty one.
    public var section: ConfigValue
    /// One walk for each object of a parent, or of the entity itself.
    public var parent: ParentWalk?
    /// How a walk asks only for what changed.
    public var incremental: Incremental?
    /// How often a walk asks for everything all the same.
    public var fullEvery: Duration?
    /// Where the file declares the source.
    public var location: SourceLocation

    /// A source; nothing is checked.
    public init(
        name: String, bridge: String, attributes: [Attribute], relationships: [Relationship] = [],
        section: ConfigValue = .object([]), parent: ParentWalk? = nil, incremental: Incremental? = nil,
        fullEvery: Duration? = nil, location: SourceLocation = .unknown
    ) {
        self.name = name
        self.bridge = bridge
        self.attributes = attributes
        self.relationships = relationships
        self.section = section
        self.parent = parent
        self.incremental = incremental
        self.fullEvery = fullEvery
        self.location = location
    }
}
