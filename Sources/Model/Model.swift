/// The entities of a configuration, in the order of its file.
public struct Model: Sendable, Equatable {
    /// The entities, in the order of the file.
    public var entities: [Entity] {
        didSet { index() }
    }
    /// Whether any attribute or relationship reads an object's surroundings, such as `@parent.id`.
    public private(set) var readsSurroundings = false
    /// The position of each entity, by name; of the first if several have the same name.
    private var positions: [String: Int] = [:]
    /// The positions of the direct sub-entities of an entity, by its name, in the order of the file.
    private(set) var children: [String: [Int]] = [:]
    /// The positions of the entities with a super-entity, by the name of their root, in the order of the file.
    private(set) var descendants: [String: [Int]] = [:]

    /// Creates a model without validation; a model from a file was validated when the file was loaded.
    public init(entities: [Entity] = []) {
        self.entities = entities
        index()
    }

    /// Derives what is looked up for each entity; a configuration may have thousands of them.
    private mutating func index() {
        readsSurroundings = entities.contains(where: \.readsSurroundings)
        positions = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        (children, descendants) = ([:], [:])
        for (position, entity) in entities.enumerated() {
            guard let superentity = entity.superentity else { continue }
            children[superentity, default: []].append(position)
            descendants[root(of: entity).name, default: []].append(position)
        }
    }

    /// Returns the entity with exactly this name.
    public func entity(named name: String) -> Entity? { position(of: name).map { entities[$0] } }

    /// Returns the place of the entity with exactly this name in ``entities``.
    package func position(of name: String) -> Int? { positions[name] }

    /// Returns the other end of `relationship`, whichever end declares the inverse.
    public func inverse(
        of relationship: Relationship, in entity: Entity
    ) -> (entity: Entity, relationship: Relationship)? {
        guard let target = self.entity(named: relationship.target) else { return nil }
        let other =
            if let name = relationship.inverse {
                target.relationships.first { $0.name == name }
            } else {
                target.relationships.first { $0.target == entity.name && $0.inverse == relationship.name }
            }
        return other.map { (target, $0) }
    }

    /// Returns where the values of `relationship` are stored; nil if its target is not in the model.
    ///
    /// If a sub-entity overrides a relationship of its super-entity, the storage is the super-entity's.
    public func storage(of relationship: Relationship, in entity: Entity) -> RelationshipStorage? {
        let entity = owner(of: relationship, in: entity)
        guard let relationship = entity.relationship(named: relationship.name),
            let target = self.entity(named: relationship.target)
        else { return nil }
        switch relationship.kind {
        case .toOne:
            return .columns(relationship.columnNames(targetKey: key(of: target).map(\.name)))
        case .toMany:
            let inverse = inverse(of: relationship, in: entity)
            if let inverse, inverse.relationship.kind == .toOne {
                return .inverse(entity: inverse.entity.name, relationship: inverse.relationship.name)
            }
            // In a many-to-many relationship with two named ends, the first end in the file owns the table.
            if let inverse, precedes(inverse.entity, inverse.relationship, entity, relationship) {
                return .inverse(entity: inverse.entity.name, relationship: inverse.relationship.name)
            }
            return .joinTable(name: relationship.table ?? "\(entity.name)_\(relationship.name)")
        }
    }

    private func precedes(
        _ firstEntity: Entity, _ first: Relationship, _ secondEntity: Entity, _ second: Relationship
    ) -> Bool {
        func place(_ entity: Entity, _ relationship: Relationship) -> (Int, Int) {
            (
                position(of: entity.name) ?? entities.count,
                entity.relationships.firstIndex { $0.name == relationship.name } ?? entity.relationships.count
            )
        }
        return place(firstEntity, first) < place(secondEntity, second)
    }
}

/// Where a relationship's values are stored.
public enum RelationshipStorage: Sendable, Equatable {
    /// In the entity's own table, with one column per attribute of the target's key.
    case columns([String])
    /// In a separate table with source, position and target.
    case joinTable(name: String)
    /// At the other end, which has the columns or the table.
    case inverse(entity: String, relationship: String)
}

extension Entity {
    fileprivate var readsSurroundings: Bool {
        let attributes = [attributes] + sources.map(\.attributes)
        let relationships = [relationships] + sources.map(\.relationships)
        return attributes.contains { $0.contains { $0.source.paths.contains(where: \.isOfSurroundings) } }
            || relationships.contains { $0.contains(where: \.source.isOfSurroundings) }
    }
}
