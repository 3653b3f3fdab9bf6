internal import Model

/// How the records of one source become rows of an entity: compiled paths and converters over the entity's layout.
///
/// Each entity has a plan, a sub-entity's with its super-entities' mapping under its own; a further source has one more.
public final class MappingPlan: Sendable {
    /// The plan's index in ``CompiledModel/plans``.
    public let index: Int
    /// The index of the entity whose objects it makes.
    public let entity: Int
    /// The name of the further source; nil for the entity's own bridge.
    public let source: String?

    /// What a walk per parent knows of its objects without their saying so.
    enum Inherited: Sendable {
        /// The parent, as the target of the relationship with this index.
        case toOne(Int)
        /// The parent is the object itself.
        case key
    }

    /// The members of a remote record that are read by the plan or by what knows of it; nil where that may be any.
    public let readMembers: [String]?

    let tree: PathNode
    let constants: [(field: Int, converter: ValueConverter, value: ConfigValue)]
    /// Per field: how remote values become local ones.
    let converters: [ValueConverter]
    /// Per field: its type, where nothing but the type tells how a value is read.
    let plainTypes: [AttributeType?]
    /// The entity's name, where its table tells entities apart.
    let kind: String?
    /// What tells which entity of the family a record is of; nil where there is one.
    let recognition: Recognition?
    let inherited: Inherited?
    /// What names no object, by the relationship to one or to many; without those of which every value names one.
    let nullValues: [PathNode.Binding: Set<String>]
    /// The fields that read where the relationship to the parent reads, and which part of the parent's key each is: such an
    /// attribute may be in the key, which a relationship cannot.
    let parentKey: [(field: Int, part: Int)]
    /// The fields that a source of higher precedence brings too.
    let fallbacks: [Int]
    private let attributes: [Attribute]

    /// Where the plan's records have an attribute of the key.
    func sourceOfKey(_ attribute: Attribute) -> Attribute.Source {
        attributes.first { $0.name == attribute.name }?.source ?? attribute.source
    }

    /// The plan of an entity's own bridge, and of its objects wherever they are nested.
    convenience init(of entity: Entity, _ index: Int, _ layout: EntityLayout, in model: Model, indexes: [String: Int]) {
        let sourced = model.root(of: entity).sourcedNames
        let attributes = model.attributes(of: entity)
        let relationships = model.relationships(of: entity)
        self.init(
            index: index, entity: index, source: nil, layout,
            (model.root(of: entity).uniquing == .singleton ? entity.keyColumns : [])
                + attributes.filter { !sourced.contains($0.name) },
            relationships.filter { !sourced.contains($0.name) }, parent: entity.parent,
            known: attributes.filter { sourced.contains($0.name) }.map(\.source)
                + relationships.filter { sourced.contains($0.name) }.map { .path($0.source) },
            recognition: Recognition(of: entity, in: model, indexes: indexes),
            tombstone: model.root(of: entity).deletes.tombstone,
            above: Self.names(above: EntitySource.mainName, in: model.root(of: entity)), model)
    }

    /// The plan of a further source of an entity.
    convenience init(
        of source: EntitySource, _ entity: Entity, index: Int, _ layout: EntityLayout, in model: Model
    ) {
        let singleton = entity.uniquing == .singleton ? entity.keyColumns : []
        let others = (entity.attributes + entity.sources.flatMap(\.attributes)).map(\.source)
        self.init(
            index: index, entity: layout.index, source: source.name, layout, singleton + source.attributes,
            source.relationships, parent: source.parent, known: others, recognition: nil, tombstone: nil,
            above: Self.names(above: source.name, in: entity), model)
    }

    /// The attributes and relationships that sources of higher precedence bring.
    private static func names(above source: String, in entity: Entity) -> Set<String> {
        let above = entity.precedence.prefix { $0 != source }
        guard above.count < entity.precedence.count else { return [] }
        return above.reduce(into: []) { names, name in
            if let source = entity.source(named: name) {
                names.formUnion(source.attributes.map(\.name) + source.relationships.map(\.name))
            } else {
                let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
                names.formUnion(own.filter { !entity.sourcedNames.contains($0) })
            }
        }
    }

    /// The attributes that read the parent's key, at the relationship's own path or at that of a key's attribute below it.
    private static func parentKey(
        _ parent: ParentWalk?, _ layout: EntityLayout, _ attributes: [Attribute], _ relationships: [Relationship],
        _ model: Model
    ) -> [(field: Int, part: Int)] {
        guard let relationship = relationships.first(where: { $0.name == parent?.relationship }),
            let target = model.entity(named: relationship.target)
        else { return [] }
        let key = model.key(of: target)
        return attributes.compactMap { attribute in
            guard case .path(let path) = attribute.source,
                let field = layout.fields.firstIndex(where: { $0.name == attribute.name && $0.relationship == nil })
            else { return nil }
            let own = relationship.source.components
            let part = key.firstIndex { part in
                guard case .path(let inner) = part.source else { return key.count == 1 && path.components == own }
                return path.components == own + inner.components || key.count == 1 && path.components == own
            }
            guard let part, key[part].type == attribute.type else { return nil }
            return (field, part)
        }
    }

    private init(
        index: Int, entity: Int, source: String?, _ layout: EntityLayout, _ attributes: [Attribute],
        _ relationships: [Relationship], parent: ParentWalk?, known: [Attribute.Source], recognition: Recognition?,
        tombstone: Matcher?, above: Set<String>, _ model: Model
    ) {
        self.index = index
        self.entity = entity
        self.source = source
        self.recognition = recognition
        self.attributes = attributes
        kind = layout.discriminator == nil ? nil : layout.name
        inherited = parent.flatMap { parent in
            guard let name = parent.relationship else { return .key }
            return layout.toOne.firstIndex { $0.name == name }.map { .toOne($0) }
        }
        parentKey = Self.parentKey(parent, layout, attributes, relationships, model)
        var converters = layout.fields.map { ValueConverter(Attribute(name: $0.name, type: $0.type)) }
        var plainTypes: [AttributeType?] = layout.fields.map(\.type)
        var constants: [(field: Int, converter: ValueConverter, value: ConfigValue)] = []
        var tree = PathNode()
        var nullValues: [PathNode.Binding: Set<String>] = [:]
        // Relationships first, attributes after them: the order in which one value feeds several.
        for relationship in relationships {
            if let index = layout.toOne.firstIndex(where: { $0.name == relationship.name }) {
                tree.insert(relationship.source.components[...], .toOne(index))
                if !relationship.nullValues.isEmpty { nullValues[.toOne(index)] = Set(relationship.nullValues) }
            } else if let index = layout.toMany.firstIndex(where: { $0.name == relationship.name }) {
                tree.insert(relationship.source.components[...], .toMany(index))
                if !relationship.nullValues.isEmpty { nullValues[.toMany(index)] = Set(relationship.nullValues) }
            }
        }
        for attribute in attributes {
            guard let field = layout.fields.firstIndex(where: { $0.name == attribute.name && $0.relationship == nil })
            else { continue }
            converters[field] = ValueConverter(attribute)
            plainTypes[field] = attribute.transformers.isEmpty ? attribute.type : nil
            switch attribute.source {
            case .path(let path): tree.insert(path.components[...], .attribute(field))
            case .constant(let value): constants.append((field, converters[field], value))
            }
        }
        let brought = Set(attributes.map(\.name) + relationships.map(\.name)).intersection(above)
        fallbacks = layout.fields.indices.filter { index in
            let field = layout.fields[index]
            return !layout.key.contains(index)
                && brought.contains(field.relationship.map { layout.toOne[$0].name } ?? field.name)
        }
        if let field = layout.discriminator {
            constants.append((field, converters[field], .string(layout.name)))
        }
        // What others read, and what conditions look at, is no unknown field.
        for case .path(let path) in known { tree.insert(path.components[...], nil) }
        let matchers = [tombstone].compactMap { $0 } + (recognition?.matchers ?? [])
        for path in matchers.flatMap(\.paths) { tree.insert(path.components[...], nil) }
        let readsAll = recognition != nil || layout.extra != nil || !tree.bindings.isEmpty
        readMembers = readsAll ? nil : tree.children.map(\.name)
        self.tree = tree
        self.nullValues = nullValues
        self.constants = constants
        self.converters = converters
        self.plainTypes = plainTypes
    }
}

extension Matcher {
    /// The paths that the conditions look at.
    var paths: [RemotePath] {
        conditions.map { condition in
            switch condition {
            case .has(let path), .lacks(let path), .equals(let path, _), .matches(let path, _): path
            }
        }
    }
}
