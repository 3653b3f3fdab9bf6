/// A further bridge of an entity that provides some of its attributes, such as details that the listing lacks.
public struct EntitySource: Sendable, Equatable {
    /// The name of the entity's own bridge in `precedence` and messages.
    public static let mainName = "main"

    /// The source's name, which differs from ``mainName``.
    public var name: String
    /// The configured name of the bridge that lists its records.
    public var bridge: String
    /// The attributes that the source provides, including the key's, with its own mapping.
    public var attributes: [Attribute]
    /// The relationships that the source provides, with its own mapping.
    public var relationships: [Relationship]
    /// The section of the bridge's plugin: always an object, possibly empty.
    public var section: ConfigValue
    /// The parent whose objects, or the entity's own objects, each have a scan of their own.
    public var parent: ParentScan?
    /// How a scan requests changes only.
    public var incremental: Incremental?
    /// The interval between full scans despite ``incremental``; nil for none.
    public var fullEvery: Duration?
    /// The time limit for all attempts of a request together; nil uses the bridge's.
    public var retryFor: Duration?
    /// The meaning of a missing member in a record of the source; nil uses the entity's.
    public var absent: AbsentRule?
    /// Where the file declares the source.
    public var location: SourceLocation

    /// Creates a source without validation.
    public init(
        name: String, bridge: String, attributes: [Attribute], relationships: [Relationship] = [],
        section: ConfigValue = .object([]), parent: ParentScan? = nil, incremental: Incremental? = nil,
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
