internal import Model

/// The fields and relationships of a table, for a root entity and all its sub-entities.
struct TableLayout {
    var fields: [EntityLayout.Field] = []
    var key: [Int] = []
    var toOne: [EntityLayout.ToOne] = []
    var toMany: [EntityLayout.ToMany] = []
    var discriminator: Int?
    var extra: Int?
    var deletion: Int?
    /// The field of each attribute, by its name.
    private(set) var attributeFields: [String: Int] = [:]
    private let code: CustomCode
    /// The relationships to one of all tables: see ``toOneIndexes(in:)``.
    private let toOneIndexes: [String: [String: Int]]

    init(
        of root: Entity, in model: Model, indexes: [String: Int], toOneIndexes: [String: [String: Int]],
        _ code: CustomCode
    ) throws {
        self.code = code
        self.toOneIndexes = toOneIndexes
        let family = model.family(of: root)
        if root.uniquing == .singleton { add(root.keyColumns) }
        add(root.attributes)
        key = try model.key(of: root).map { attribute in
            guard let field = field(attribute.name) else {
                throw MappingError(description: "the key \(attribute.name) of \(root.name) is not an attribute")
            }
            return field
        }
        guard key.count == root.key.count || root.uniquing != .key else {
            throw MappingError(description: "a key of \(root.name) is not an attribute")
        }
        try add(root.relationships, of: root, in: model, indexes)
        if family.count > 1 {
            discriminator = fields.count
            add([Attribute(name: Entity.discriminatorColumn)])
        }
        for entity in family.dropFirst() {
            add(entity.attributes)
            try add(
                entity.relationships.filter { model.owner(of: $0, in: entity).name == entity.name }, of: entity,
                in: model, indexes)
        }
        if root.keepsExtra {
            extra = fields.count
            add([Attribute(name: Entity.extraColumn, type: .json)])
        }
        if root.deletes.mode == .soft {
            deletion = fields.count
            add([Attribute(name: Entity.deletionColumn, type: .timestamp)])
        }
    }

    func field(_ name: String) -> Int? { attributeFields[name] }

    /// Adds a column per attribute.
    ///
    /// Two sub-entities that declare the same attribute share one column.
    private mutating func add(_ attributes: [Attribute]) {
        for attribute in attributes where field(attribute.name) == nil {
            let merge = attribute.merge.flatMap { code.merges[$0] }.map {
                FieldMerge(merge: $0, code: code, type: attribute.type)
            }
            attributeFields[attribute.name] = fields.count
            fields.append(
                EntityLayout.Field(name: attribute.name, type: attribute.type, relationship: nil, merge: merge))
        }
    }

    private mutating func add(
        _ relationships: [Relationship], of entity: Entity, in model: Model, _ indexes: [String: Int]
    ) throws {
        for relationship in relationships {
            guard let target = indexes[relationship.target] else {
                throw MappingError(description: "\(entity.name).\(relationship.name) leads to no entity")
            }
            switch relationship.kind {
            case .toOne:
                let keys = model.key(of: model.entities[target])
                let names = relationship.columnNames(targetKey: keys.map(\.name))
                toOne.append(
                    EntityLayout.ToOne(
                        name: relationship.name, target: target, firstField: fields.count, fieldCount: keys.count))
                for (name, attribute) in zip(names, keys) {
                    fields.append(
                        EntityLayout.Field(name: name, type: attribute.type, relationship: toOne.count - 1))
                }
            case .toMany:
                toMany.append(
                    EntityLayout.ToMany(
                        name: relationship.name, target: target,
                        storage: storage(of: relationship, in: entity, model), merge: relationship.merge,
                        window: relationship.window,
                        isOrdered: relationship.isOrdered, orphans: relationship.orphans))
            }
        }
    }

    private func storage(
        of relationship: Relationship, in entity: Entity, _ model: Model
    ) -> EntityLayout.ToMany.Storage {
        switch model.storage(of: relationship, in: entity) {
        case .joinTable(let table): return .links(table: table)
        case .inverse(let owner, let name):
            let owner = model.entity(named: owner)
            if let index = owner.flatMap({ toOneIndexes[model.root(of: $0).name]?[name] }) {
                return .inverse(toOne: index)
            }
            let table = owner?.relationship(named: name)?.table
            return .reversedLinks(table: table ?? "\(owner?.name ?? relationship.target)_\(name)")
        case .columns, nil: return .links(table: "\(entity.name)_\(relationship.name)")
        }
    }

    /// Returns the index of each relationship to one in its table, by its name and by that of the table's root.
    ///
    /// They are numbered like `add` does.
    static func toOneIndexes(in model: Model) -> [String: [String: Int]] {
        var indexes: [String: [String: Int]] = [:]
        for root in model.entities where root.superentity == nil {
            let names = model.family(of: root).flatMap { entity in
                entity.relationships.filter {
                    $0.kind == .toOne && model.owner(of: $0, in: entity).name == entity.name
                }.map(\.name)
            }
            indexes[root.name] = Dictionary(
                names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return indexes
    }
}
