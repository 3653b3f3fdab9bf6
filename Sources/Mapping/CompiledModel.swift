public import Model

/// A model made ready for importing: layouts and compiled paths per entity, by index.
public final class CompiledModel: Sendable {
    /// The layout of each entity, in the order of the model.
    public let entities: [EntityLayout]
    /// The model it came from.
    public let model: Model
    private let indexes: [String: Int]

    /// Compiles a model that has been validated.
    ///
    /// - Throws: ``MappingError`` when a relationship leads nowhere: the model was not validated.
    public init(_ model: Model) throws {
        self.model = model
        let indexes = Dictionary(
            model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.indexes = indexes
        entities = try model.entities.enumerated().map { index, entity in
            try EntityLayout(entity, index: index, in: model, indexes: indexes)
        }
    }

    /// The index of the entity with this name.
    public func index(of entity: String) -> Int? { indexes[entity] }
}

/// A model that cannot be compiled.
public struct MappingError: Error, CustomStringConvertible {
    /// What is wrong.
    public let description: String
}

/// What an entity's rows look like: a field per attribute, then the fields of each relationship to one.
public final class EntityLayout: Sendable {
    /// One column's worth of a row.
    public struct Field: Sendable {
        /// The local name: the attribute's, the relationship's, or both joined by `_` where a target has several keys.
        public let name: String
        /// The type of its values.
        public let type: AttributeType
        /// The relationship to one that it belongs to, by its index in ``EntityLayout/toOne``.
        public let relationship: Int?
    }

    /// A relationship to one object: fields that hold the target's key.
    public struct ToOne: Sendable {
        /// The relationship's name.
        public let name: String
        /// The target's index in the ``CompiledModel``.
        public let target: Int
        /// The index of its first field; the others follow, in the order of the target's key.
        public let firstField: Int
        /// How many fields it has.
        public let fieldCount: Int
    }

    /// A relationship to many objects.
    public struct ToMany: Sendable {
        /// Where it is stored.
        public enum Storage: Sendable, Equatable {
            /// In the relationship to one of the target with this index in its ``EntityLayout/toOne``.
            case inverse(toOne: Int)
            /// In a link table of this name, this entity as the source.
            case links(table: String)
            /// In the link table of the target's relationship: this entity as the target.
            case reversedLinks(table: String)
        }

        /// The relationship's name.
        public let name: String
        /// The target's index in the ``CompiledModel``.
        public let target: Int
        /// Where it is stored.
        public let storage: Storage
        /// What a new list does to the old one.
        public let merge: Relationship.Merge
    }

    /// The entity's name.
    public let name: String
    /// The entity's index in the ``CompiledModel``.
    public let index: Int
    /// All fields: attributes in their order, then relationships to one.
    public let fields: [Field]
    /// The indexes of the fields that make the key, in the order of the key.
    public let key: [Int]
    /// The relationships to one.
    public let toOne: [ToOne]
    /// The relationships to many.
    public let toMany: [ToMany]

    let attributes: [Attribute]
    let plan: PathNode
    let constants: [(field: Int, converter: ValueConverter, value: ConfigValue)]
    /// Per field of an attribute: how remote values become local ones.
    let converters: [ValueConverter]
    /// Per field of an attribute: its type, where nothing but the type tells how a value is read.
    let plainTypes: [AttributeType?]

    init(_ entity: Entity, index: Int, in model: Model, indexes: [String: Int]) throws {
        name = entity.name
        self.index = index
        attributes = entity.attributes
        var fields = entity.attributes.map { Field(name: $0.name, type: $0.type, relationship: nil) }
        key = try entity.key.map { name in
            guard let field = entity.attributes.firstIndex(where: { $0.name == name }) else {
                throw MappingError(description: "the key \(name) of \(entity.name) is not an attribute")
            }
            return field
        }
        var toOne: [ToOne] = []
        var toMany: [ToMany] = []
        var plan = PathNode()
        for relationship in entity.relationships {
            guard let target = indexes[relationship.target] else {
                throw MappingError(description: "\(entity.name).\(relationship.name) leads to no entity")
            }
            switch relationship.kind {
            case .toOne:
                let keys = model.entities[target].keyAttributes
                let names = relationship.columnNames(targetKey: keys.map(\.name))
                plan.insert(relationship.source.components[...], .toOne(toOne.count))
                toOne.append(
                    ToOne(
                        name: relationship.name, target: target, firstField: fields.count, fieldCount: keys.count))
                for (name, attribute) in zip(names, keys) {
                    fields.append(Field(name: name, type: attribute.type, relationship: toOne.count - 1))
                }
            case .toMany:
                plan.insert(relationship.source.components[...], .toMany(toMany.count))
                toMany.append(
                    ToMany(
                        name: relationship.name, target: target,
                        storage: Self.storage(of: relationship, in: entity, model),
                        merge: relationship.merge))
            }
        }
        var constants: [(field: Int, converter: ValueConverter, value: ConfigValue)] = []
        converters = entity.attributes.map(ValueConverter.init)
        for (field, attribute) in entity.attributes.enumerated() {
            switch attribute.source {
            case .path(let path): plan.insert(path.components[...], .attribute(field))
            case .constant(let value): constants.append((field, converters[field], value))
            }
        }
        plainTypes = entity.attributes.map { $0.transformers.isEmpty ? $0.type : nil }
        self.fields = fields
        self.toOne = toOne
        self.toMany = toMany
        self.plan = plan
        self.constants = constants
    }

    private static func storage(of relationship: Relationship, in entity: Entity, _ model: Model) -> ToMany.Storage {
        switch model.storage(of: relationship, in: entity) {
        case .joinTable(let table): return .links(table: table)
        case .inverse(let owner, let name):
            let owner = model.entity(named: owner)
            let toOne = owner?.relationships.filter { $0.kind == .toOne } ?? []
            if let index = toOne.firstIndex(where: { $0.name == name }) { return .inverse(toOne: index) }
            return .reversedLinks(table: "\(owner?.name ?? relationship.target)_\(name)")
        case .columns, nil: return .links(table: "\(entity.name)_\(relationship.name)")
        }
    }
}

/// The paths of an entity's mapping as a tree, so that an object's members are walked once.
struct PathNode: Sendable {
    enum Binding: Sendable, Equatable {
        case attribute(Int)
        case toOne(Int)
        case toMany(Int)
    }

    /// What this node's value feeds.
    var bindings: [Binding] = []
    /// Deeper paths, by member name.
    var children: [(name: String, node: PathNode)] = []

    mutating func insert(_ path: ArraySlice<String>, _ binding: Binding) {
        guard let first = path.first else {
            bindings.append(binding)
            return
        }
        if let index = children.firstIndex(where: { $0.name.utf8.elementsEqual(first.utf8) }) {
            children[index].node.insert(path.dropFirst(), binding)
        } else {
            var node = PathNode()
            node.insert(path.dropFirst(), binding)
            children.append((first, node))
        }
    }
}
