extension Model {
    /// Returns the entities from the root of `entity` down to itself.
    ///
    /// Stops at a super-entity that is not in the model, or at a cycle.
    public func lineage(of entity: Entity) -> [Entity] {
        guard entity.superentity != nil else { return [entity] }
        var lineage = [entity]
        // By their names, because a long line is searched at each step.
        var names: Set = [entity.name]
        while let name = lineage[lineage.count - 1].superentity, let next = self.entity(named: name),
            names.insert(name).inserted
        {
            lineage.append(next)
        }
        return lineage.reversed()
    }

    /// Returns the entity whose table contains the objects of `entity`: itself, unless it has a super-entity.
    public func root(of entity: Entity) -> Entity { lineage(of: entity)[0] }

    /// Returns the direct sub-entities of `entity`, in the order of the file.
    public func subentities(of entity: Entity) -> [Entity] {
        (children[entity.name] ?? []).map { entities[$0] }
    }

    /// Returns whether `entity` is one of `names`, or below one of them.
    package func isKind(_ entity: Entity, of names: Set<String>) -> Bool {
        lineage(of: entity).contains { names.contains($0.name) }
    }

    /// Returns the names of the entities that are one of `names`, or below one of them.
    package func names(under names: some Sequence<String>) -> Set<String> {
        let names = Set(names)
        return Set(entities.filter { isKind($0, of: names) }.map(\.name))
    }

    /// Returns the root of `entity`, then all sub-entities below it in the order of the file.
    public func family(of entity: Entity) -> [Entity] {
        let root = root(of: entity)
        return [root] + (descendants[root.name] ?? []).map { entities[$0] }.filter { $0.name != root.name }
    }

    /// Returns whether an entity's table has a column with the entity of each object.
    public func hasSubentities(_ entity: Entity) -> Bool {
        descendants[entity.name] != nil
    }

    /// Returns the attributes that an entity's own listing brings: all but those of its further sources alone.
    public func ownAttributes(of entity: Entity) -> [Attribute] {
        let sourced = root(of: entity).sourcedNames
        return attributes(of: entity).filter { !sourced.contains($0.name) }
    }

    /// Returns whether objects of `entity` may be created, updated and deleted: the value of the nearest entity in its
    /// lineage that sets it.
    public func isWritable(_ entity: Entity) -> Bool {
        lineage(of: entity).last { $0.isWritable != nil }?.isWritable ?? false
    }

    /// Returns the entity in the lineage of `entity` whose listing contains its objects, and whose section writes them.
    public func scanned(_ entity: Entity) -> Entity {
        lineage(of: entity).last { $0.isScanned } ?? entity
    }

    /// Returns the attributes that identify an object of `entity`, in key order; for a sub-entity, those of its root.
    public func key(of entity: Entity) -> [Attribute] { root(of: entity).keyColumns }

    /// Returns the attributes of `entity` and its super-entities.
    ///
    /// A sub-entity's attribute replaces its super-entity's.
    public func attributes(of entity: Entity) -> [Attribute] {
        Self.latest(lineage(of: entity).flatMap(\.attributes), by: \.name)
    }

    /// Returns the relationships of `entity` and its super-entities.
    ///
    /// A sub-entity's relationship replaces its super-entity's.
    public func relationships(of entity: Entity) -> [Relationship] {
        Self.latest(lineage(of: entity).flatMap(\.relationships), by: \.name)
    }

    /// Returns the last property of each name, at the place of the first.
    private static func latest<Property>(_ properties: [Property], by name: (Property) -> String) -> [Property] {
        var places: [String: Int] = [:]
        var latest: [Property] = []
        for property in properties {
            if let place = places[name(property)] {
                latest[place] = property
            } else {
                places[name(property)] = latest.count
                latest.append(property)
            }
        }
        return latest
    }

    /// Returns the first entity in the lineage of `entity` that declares a relationship.
    public func owner(of relationship: Relationship, in entity: Entity) -> Entity {
        guard entity.superentity != nil else { return entity }
        return lineage(of: entity).first { $0.relationship(named: relationship.name) != nil } ?? entity
    }
}

extension Entity {
    /// The name of a singleton's key column.
    public static let singletonColumn = "singleton"
    /// The name of the column with the object's entity, in a table of several entities.
    public static let discriminatorColumn = "entity"
    /// The name of the column for members that no attribute reads.
    public static let extraColumn = "extra"
    /// The name of the column with the time of a soft deletion.
    public static let deletionColumn = "deleted_at"

    /// The key's columns: its attributes, or the key column of a singleton.
    public var keyColumns: [Attribute] {
        switch uniquing {
        case .key: keyAttributes
        case .none: []
        case .singleton: [Attribute(name: Self.singletonColumn, type: .integer, source: .constant(1))]
        }
    }
}
