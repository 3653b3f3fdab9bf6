/// A kind of object: a table of the database, or a part of its super-entity's table.
public struct Entity: Sendable, Equatable {
    /// What makes two records one object.
    public enum Uniquing: String, Sendable, CaseIterable {
        /// The attributes of ``Entity/key``.
        case key
        /// Nothing: every record is an object of its own, which nothing can refer to.
        case none
        /// All records: there is one object at most.
        case singleton
    }

    /// The entity's name, which is its table's unless it has a super-entity.
    public var name: String
    /// The name, in the configuration, of the bridge that brings its records: a sub-entity's may be its super-entity's.
    public var bridge: String
    /// The attributes that identify an object; at least one, or none where ``uniquing`` says so.
    ///
    /// A sub-entity has the key of its root: ``Model/key(of:)``.
    public var key: [String]
    /// The attributes, in the order of the file; those of a super-entity are not among them.
    public var attributes: [Attribute]
    /// The relationships, in the order of the file; those of a super-entity are not among them.
    public var relationships: [Relationship]
    /// What the bridge's plugin needs to know of this entity: always an object, maybe an empty one.
    public var section: ConfigValue
    /// Where the file declares the entity.
    public var location: SourceLocation

    /// What makes two records one object.
    public var uniquing: Uniquing = .key
    /// The name of the super-entity, in whose root's table the objects lie.
    public var superentity: String?
    /// What tells a record of this sub-entity from its super-entity's others.
    public var matcher: Matcher?
    /// Whether a sync walks a listing of its own: false for a sub-entity whose records come among its super-entity's.
    public var isWalked = true
    /// One walk for each object of a parent.
    public var parent: ParentWalk?
    /// How a walk asks only for what changed.
    public var incremental: Incremental?
    /// How often a walk asks for everything all the same; nil for never.
    public var fullEvery: Duration?
    /// What becomes of objects that the remote no longer has.
    public var deletes = DeletePolicy()
    /// Whose value counts where a column was changed here and on the remote; a sub-entity's is its root's.
    public var conflicts = ConflictPolicy.manual
    /// Further bridges behind the entity.
    public var sources: [EntitySource] = []
    /// The attributes and relationships that only ``sources`` bring.
    public var sourcedNames: Set<String> = []
    /// The names of sources, ``EntitySource/mainName`` among them: of several that bring an attribute, the first wins.
    public var precedence: [String] = []
    /// Whether fields that no attribute reads are kept in the column `extra`.
    public var keepsExtra = false
    /// What the entity was called before, so that its table is renamed.
    public var renamedFrom: String?
    /// Whether objects may be created, updated and deleted; nil leaves it to the super-entity, and to no in the end.
    ///
    /// ``Model/isWritable(_:)`` knows.
    public var isWritable: Bool?
    /// The attributes by which an object is found again whose creation got no answer.
    public var match: [String] = []
    /// Whether the remote does a thing once that is sent twice with the same idempotency key.
    public var honoursIdempotencyKeys = false
    /// What the bridge's plugin needs to know to bring one object, whose values are those of the parent; nil for nothing.
    public var readOne: ConfigValue?

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

    /// The source called `name`.
    public func source(named name: String) -> EntitySource? {
        sources.first { $0.name == name }
    }

    /// The attributes of the key, in the key's order.
    public var keyAttributes: [Attribute] {
        key.compactMap { attribute(named: $0) }
    }
}
