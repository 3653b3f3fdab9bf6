/// An entity: a table of the database, or a part of its super-entity's table.
public struct Entity: Sendable, Equatable {
    /// How records are identified as the same object.
    public enum Uniquing: String, Sendable, CaseIterable {
        /// By the attributes of ``Entity/key``.
        case key
        /// Not at all: every record is a separate object that cannot be referred to.
        case none
        /// All records are the same, single object.
        case singleton
    }

    /// The entity's name, which is also the table's unless the entity has a super-entity.
    public var name: String
    /// The configured name of the bridge that lists its records, which a sub-entity may share with its super-entity.
    public var bridge: String
    /// The names of the key's attributes; empty if ``uniquing`` is not by key.
    ///
    /// A sub-entity has the key of its root: see ``Model/key(of:)``.
    public var key: [String]
    /// The attributes in the order of the file, without those of a super-entity.
    public var attributes: [Attribute]
    /// The relationships in the order of the file, without those of a super-entity.
    public var relationships: [Relationship]
    /// The section of the bridge's plugin: always an object, possibly empty.
    public var section: ConfigValue
    /// Where the file declares the entity.
    public var location: SourceLocation

    /// How records are identified as the same object.
    public var uniquing: Uniquing = .key
    /// The name of the super-entity; the objects are stored in the table of its root.
    public var superentity: String?
    /// Matches the records of this sub-entity among those of its super-entity.
    public var matcher: Matcher?
    /// Whether the entity has a listing of its own.
    ///
    /// False for a sub-entity whose records are in its super-entity's listing, and for an entity whose objects only
    /// appear inside others (`listing: none`).
    public var isScanned = true
    /// The parent whose objects each have a scan of their own.
    public var parent: ParentScan?
    /// How a scan requests changes only.
    public var incremental: Incremental?
    /// The interval between full scans despite ``incremental``; nil for none.
    public var fullEvery: Duration?
    /// The time limit for all attempts of a request together; nil uses the bridge's.
    public var retryFor: Duration?
    /// The handling of objects that the remote no longer has.
    public var deletes = DeletePolicy()
    /// The conflict policy, which a sub-entity shares with its root.
    public var conflicts = ConflictPolicy.manual
    /// The maximum number of records that the entity's scans in one sync may quarantine before they are aborted.
    public var quarantineLimit = Entity.usualQuarantineLimit
    /// The further bridges of the entity.
    public var sources: [EntitySource] = []
    /// The attributes and relationships that only ``sources`` provide.
    public var sourcedNames: Set<String> = []
    /// The names of sources by precedence, with ``EntitySource/mainName``.
    ///
    /// The first source that provides an attribute wins.
    public var precedence: [String] = []
    /// Whether members that no attribute reads are stored in the column `extra`.
    public var keepsExtra = false
    /// The meaning of a missing member in a listed record; nil uses that of the super-entity, and `auto` at the root.
    public var absent: AbsentRule?
    /// The entity's previous name, whose table is renamed.
    public var renamedFrom: String?
    /// Whether objects may be created, updated and deleted; nil uses the super-entity's value, and false at the root.
    ///
    /// See ``Model/isWritable(_:)``.
    public var isWritable: Bool?
    /// The attributes and to-one relationships that identify an object whose creation got no reply.
    public var match: [String] = []
    /// Whether the remote executes a request only once if it is repeated with the same idempotency key.
    public var honoursIdempotencyKeys = false
    /// The section for reading one object, with its values as those of the parent; nil for none.
    public var readOne: ConfigValue?

    /// The default of ``quarantineLimit``.
    public static let usualQuarantineLimit = 100_000

    /// Creates an entity without validation.
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

    /// Returns the attribute with this name.
    public func attribute(named name: String) -> Attribute? {
        attributes.first { $0.name == name }
    }

    /// Returns the relationship with this name.
    public func relationship(named name: String) -> Relationship? {
        relationships.first { $0.name == name }
    }

    /// Returns the source with this name.
    public func source(named name: String) -> EntitySource? {
        sources.first { $0.name == name }
    }

    /// The attributes of the key, in key order.
    public var keyAttributes: [Attribute] {
        key.compactMap { attribute(named: $0) }
    }
}
