extension Model {
    /// The entities from the root of `entity` down to itself.
    ///
    /// Ends where a super-entity is not in the model, or one is its own.
    public func lineage(of entity: Entity) -> [Entity] {
        var lineage = [entity]
        while let name = lineage[0].superentity, let next = self.entity(named: name),
            !lineage.contains(where: { $0.name == name })
        {
            lineage.insert(next, at: 0)
        }
        return lineage
    }

    /// The entity in whose table the objects of `entity` lie: itself, unless it has a super-entity.
    public func root(of entity: Entity) -> Entity { lineage(of: entity)[0] }

    /// The sub-entities of `entity`, in the order of the file; not those of the sub-entities.
    public func subentities(of entity: Entity) -> [Entity] {
        entities.filter { $0.superentity == entity.name }
    }

    /// Whether `entity` is one of `names`, or below one of them.
    package func isKind(_ entity: Entity, of names: Set<String>) -> Bool {
        lineage(of: entity).contains { names.contains($0.name) }
    }

    /// The names of the entities that are one of `names`, or below one of them.
    package func names(under names: some Sequence<String>) -> Set<String> {
        let names = Set(names)
        return Set(entities.filter { isKind($0, of: names) }.map(\.name))
    }

    /// The root of `entity` and all sub-entities below it, in the order of the file, the root first.
    public func family(of entity: Entity) -> [Entity] {
        let root = root(of: entity)
        return [root]
            + entities.filter { $0.superentity != nil && $0.name != root.name && self.root(of: $0).name == root.name }
    }

    /// Whether the objects of an entity's table have a column that tells their entity.
    public func hasSubentities(_ entity: Entity) -> Bool {
        entities.contains { $0.superentity != nil && root(of: $0).name == entity.name }
    }

    /// Whether objects of `entity` may be created, updated and deleted: what its nearest super-entity says that says it.
    public func isWritable(_ entity: Entity) -> Bool {
        lineage(of: entity).last { $0.isWritable != nil }?.isWritable ?? false
    }

    /// The entity of the lineage of `entity` whose listing brings its objects, and whose section writes them.
    public func walked(_ entity: Entity) -> Entity {
        lineage(of: entity).last { $0.isWalked } ?? entity
    }

    /// The attributes that identify an object of `entity`, in the key's order; for a sub-entity those of its root.
    public func key(of entity: Entity) -> [Attribute] { root(of: entity).keyColumns }

    /// The attributes of `entity` and its super-entities: a sub-entity's takes the place of its super-entity's.
    public func attributes(of entity: Entity) -> [Attribute] {
        var attributes: [Attribute] = []
        for attribute in lineage(of: entity).flatMap(\.attributes) {
            if let index = attributes.firstIndex(where: { $0.name == attribute.name }) {
                attributes[index] = attribute
            } else {
                attributes.append(attribute)
            }
        }
        return attributes
    }

    /// The relationships of `entity` and its super-entities: a sub-entity's takes the place of its super-entity's.
    public func relationships(of entity: Entity) -> [Relationship] {
        var relationships: [Relationship] = []
        for relationship in lineage(of: entity).flatMap(\.relationships) {
            if let index = relationships.firstIndex(where: { $0.name == relationship.name }) {
                relationships[index] = relationship
            } else {
                relationships.append(relationship)
            }
        }
        return relationships
    }

    /// The entity of `entity`'s lineage that declares a relationship first.
    public func owner(of relationship: Relationship, in entity: Entity) -> Entity {
        lineage(of: entity).first { $0.relationship(named: relationship.name) != nil } ?? entity
    }
}

extension Entity {
    /// The name of the key column of an entity that has one object at most.
    public static let singletonColumn = "singleton"
    /// The name of the column that tells the entity of an object, in a table of several.
    public static let discriminatorColumn = "entity"
    /// The name of the column of fields that no attribute reads.
    public static let extraColumn = "extra"
    /// The name of the column with the time of a soft deletion.
    public static let deletionColumn = "deleted_at"

    /// The columns that make the key: the key's attributes, or the one of a singleton.
    public var keyColumns: [Attribute] {
        switch uniquing {
        case .key: keyAttributes
        case .none: []
        case .singleton: [Attribute(name: Self.singletonColumn, type: .integer, source: .constant(1))]
        }
    }
}
