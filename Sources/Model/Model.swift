/// The entities of a configuration, in the order of its file.
public struct Model: Sendable, Equatable {
    /// The entities, in the order of the file.
    public var entities: [Entity]

    /// A model of `entities`; nothing is checked, as a model from a file was checked when the file was loaded.
    public init(entities: [Entity] = []) {
        self.entities = entities
    }

    /// The entity called `name`, exactly so.
    public func entity(named name: String) -> Entity? {
        entities.first { $0.name == name }
    }

    /// The other end of `relationship`, whichever of the two ends names the other as its inverse.
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

    /// Where the values of `relationship` are kept; nil when its target is not in the model.
    ///
    /// A sub-entity's own mapping of its super-entity's relationship is kept where that is.
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
            // Of a many-to-many with two named ends, the end that stands first in the file owns the table.
            if let inverse, precedes(inverse.entity, inverse.relationship, entity, relationship) {
                return .inverse(entity: inverse.entity.name, relationship: inverse.relationship.name)
            }
            return .joinTable(name: "\(entity.name)_\(relationship.name)")
        }
    }

    private func precedes(
        _ firstEntity: Entity, _ first: Relationship, _ secondEntity: Entity, _ second: Relationship
    ) -> Bool {
        func place(_ entity: Entity, _ relationship: Relationship) -> (Int, Int) {
            (
                entities.firstIndex { $0.name == entity.name } ?? entities.count,
                entity.relationships.firstIndex { $0.name == relationship.name } ?? entity.relationships.count
            )
        }
        return place(firstEntity, first) < place(secondEntity, second)
    }
}

/// Where a relationship's values are kept.
public enum RelationshipStorage: Sendable, Equatable {
    /// In the entity's own table, a column for each attribute of the target's key.
    case columns([String])
    /// In a table of its own: source, position, target.
    case joinTable(name: String)
    /// By the other end, which has the columns or the table.
    case inverse(entity: String, relationship: String)
}
