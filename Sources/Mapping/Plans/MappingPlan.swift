internal import Model

/// A plan that maps the records of one source to rows of an entity: compiled paths and converters for the entity's
/// layout.
///
/// Each entity has a plan. A sub-entity's plan includes the mapping of its super-entities. Each further source has a
/// plan of its own.
public final class MappingPlan: Sendable {
    /// The plan's index in ``CompiledModel/plans``.
    public let index: Int
    /// The index of the entity of the mapped objects.
    public let entity: Int
    /// The name of the further source; nil for the entity's own bridge.
    public let source: String?

    /// The value that objects inherit from the parent in a scan per parent.
    enum Inherited: Sendable {
        /// The parent is the target of the to-one relationship with this index.
        case toOne(Int)
        /// The parent is the object itself.
        case key
    }

    /// The members of a remote record that the plan or its conditions read; nil if it may read any member.
    public let readMembers: [String]?

    /// The paths to a record's surroundings that the plan reads, such as `@parent.id` and `@index`.
    public let surroundings: [String]

    let tree: PathNode
    /// The ``tree`` with numbers, which a mapper resolves for each batch.
    let outline: PlanOutline
    /// The attributes that join several paths, with the number of paths.
    let joins: [(field: Int, count: Int)]
    /// Whether the plan reads the surroundings of its objects.
    var readsSurroundings: Bool { !surroundings.isEmpty }
    /// The values beside the lists of relationships to many, in the order of the relationships.
    let metadata: [(list: Int, name: String)]
    let constants: [(field: Int, converter: ValueConverter, value: ConfigValue)]
    /// Per field: the converter from remote to local values.
    let converters: [ValueConverter]
    /// Per field: its type, if the type alone determines the conversion.
    let plainTypes: [AttributeType?]
    /// The entity's name, if its table contains several entities.
    let kind: String?
    /// The rules that identify a record's entity in its family; nil for a family of one.
    let recognition: Recognition?
    /// What objects inherit in a scan per parent of the listing that contains them.
    let inherited: Inherited?
    /// The remote values that refer to no object, per relationship; relationships without such values are omitted.
    let nullValues: [PathNode.Binding: Set<ExactText>]
    /// Per to-one relationship of the table: the fields for ``parentKey(as:)``, if a listing has it as its parent.
    private let parentKeys: [[(field: Int, part: Int)]]
    /// The fields for ``parentKey(as:)`` in the listing that contains the plan's objects.
    var parentKey: [(field: Int, part: Int)] { parentKey(as: inherited) }
    /// The fields that a source of higher precedence provides too.
    let fallbacks: [Int]
    /// The members that a record may omit, each with the meaning of its absence.
    let members: [OptionalMember]
    /// Whether the key of the objects, which come only nested, is a position: what an earlier object at the same position
    /// had is not that of the present one.
    let isPositional: Bool
    /// The meaning of a missing member that has no rule of its own.
    let absent: AbsentRule
    private let attributes: [Attribute]

    /// Returns the fields that read the same value as the relationship to the parent, each with the index of its part
    /// of the parent's key.
    ///
    /// Unlike a relationship, such an attribute can be part of the key.
    ///
    /// - Parameter inherited: What the listing's objects inherit; the listing may be that of a super-entity.
    func parentKey(as inherited: Inherited?) -> [(field: Int, part: Int)] {
        if case .toOne(let index)? = inherited { parentKeys[index] } else { [] }
    }

    /// Returns the source of a key attribute in the plan's records.
    func sourceOfKey(_ attribute: Attribute) -> Attribute.Source {
        attributes.first { $0.name == attribute.name }?.source ?? attribute.source
    }

    /// Creates the plan for an entity's own bridge, which also maps the entity's nested objects.
    convenience init(
        of entity: Entity, _ index: Int, _ layout: EntityLayout, in model: Model, _ recognition: Recognition?,
        _ precedence: Precedence, _ code: CustomCode
    ) {
        let sourced = model.root(of: entity).sourcedNames
        let attributes = model.attributes(of: entity)
        let relationships = model.relationships(of: entity)
        self.init(
            index: index, entity: index, source: nil, layout,
            (model.root(of: entity).uniquing == .singleton ? entity.keyColumns : [])
                + model.ownAttributes(of: entity),
            relationships.filter { !sourced.contains($0.name) }, parent: model.scanned(entity).parent,
            parents: layout.family.parents,
            known: attributes.filter { sourced.contains($0.name) }.map(\.source)
                + relationships.filter { sourced.contains($0.name) }.flatMap(\.paths).map { .path($0) },
            recognition: recognition,
            tombstone: model.root(of: entity).deletes.tombstone, precedence,
            absent: model.lineage(of: entity).reversed().lazy.compactMap(\.absent).first, model, code)
    }

    /// Creates the plan for a further source of an entity.
    convenience init(
        of source: EntitySource, _ entity: Entity, index: Int, _ layout: EntityLayout, in model: Model,
        _ precedence: Precedence, _ code: CustomCode
    ) {
        let singleton = entity.uniquing == .singleton ? entity.keyColumns : []
        let others = (entity.attributes + entity.sources.flatMap(\.attributes)).map(\.source)
        self.init(
            index: index, entity: layout.index, source: source.name, layout, singleton + source.attributes,
            source.relationships, parent: source.parent,
            parents: Set([source.parent?.relationship].compactMap { $0 }), known: others, recognition: nil,
            tombstone: nil, precedence, absent: source.absent ?? entity.absent, model, code)
    }

    /// Which source of an entity provides an attribute or relationship before the others do.
    struct Precedence {
        /// Per source: its place in `precedence`.
        private var places: [String: Int] = [:]
        /// Per attribute or relationship: the least place of a source that provides it.
        private var least: [String: Int] = [:]

        init(of entity: Entity) {
            let sources = Dictionary(entity.sources.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            for (place, name) in entity.precedence.enumerated() where places[name] == nil {
                places[name] = place
                let provided =
                    if let source = sources[name] {
                        source.attributes.map(\.name) + source.relationships.map(\.name)
                    } else {
                        (entity.attributes.map(\.name) + entity.relationships.map(\.name))
                            .filter { !entity.sourcedNames.contains($0) }
                    }
                for name in provided where least[name] == nil { least[name] = place }
            }
        }

        /// Returns which attributes and relationships of a source another one of higher precedence provides, too.
        func names(of names: [String], before source: String) -> Set<String> {
            guard let place = places[source] else { return [] }
            return Set(names.filter { name in least[name].map { $0 < place } ?? false })
        }
    }

    /// Returns the attributes that read the parent's key, at the relationship's path or at that of a key attribute
    /// below it.
    private static func parentKey(
        _ relationship: Relationship, _ layout: EntityLayout, _ attributes: [Attribute], _ model: Model
    ) -> [(field: Int, part: Int)] {
        guard let target = model.entity(named: relationship.target) else { return [] }
        let key = model.key(of: target)
        return attributes.compactMap { attribute in
            guard case .path(let path) = attribute.source,
                let field = layout.field(ofAttribute: attribute.name)
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
        _ relationships: [Relationship], parent: ParentScan?, parents: Set<String>, known: [Attribute.Source],
        recognition: Recognition?, tombstone: Matcher?, _ precedence: Precedence, absent: AbsentRule?, _ model: Model,
        _ code: CustomCode
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
        parentKeys = layout.toOne.map { toOne -> [(field: Int, part: Int)] in
            guard parents.contains(toOne.name),
                let relationship = relationships.first(where: { $0.name == toOne.name })
            else { return [] }
            return Self.parentKey(relationship, layout, attributes, model)
        }
        var converters = layout.fields.indices.map { index in
            let field = layout.fields[index]
            return ValueConverter(Attribute(name: field.name, type: field.type), isIdentity: layout.isIdentity(index))
        }
        var plainTypes: [AttributeType?] = layout.fields.map(\.type)
        var constants: [(field: Int, converter: ValueConverter, value: ConfigValue)] = []
        var tree = PathNode()
        var joins: [(field: Int, count: Int)] = []
        var nullValues: [PathNode.Binding: Set<ExactText>] = [:]
        var metadata: [(list: Int, name: String)] = []
        // Relationships precede attributes: this is the order in which one value feeds several bindings.
        for relationship in relationships {
            let nulls = relationship.nullValues.isEmpty ? nil : Set(relationship.nullValues.map(ExactText.init))
            if let index = layout.toOne.firstIndex(where: { $0.name == relationship.name }) {
                tree.insert(relationship.source.components[...], .toOne(index))
                nullValues[.toOne(index)] = nulls
            } else if let index = layout.toMany.firstIndex(where: { $0.name == relationship.name }) {
                tree.insert(relationship.source.components[...], .toMany(index))
                nullValues[.toMany(index)] = nulls
                for value in relationship.metadata {
                    tree.insert(value.path.components[...], .metadata(metadata.count))
                    metadata.append((index, value.name))
                }
            }
        }
        for attribute in attributes {
            guard let field = layout.field(ofAttribute: attribute.name) else { continue }
            let isIdentity = layout.isIdentity(field)
            converters[field] = ValueConverter(attribute, code, isIdentity: isIdentity)
            // The fast path keeps the zeros of a decimal.
            let isPlain = attribute.transformers.isEmpty && !(isIdentity && attribute.type == .decimal)
            plainTypes[field] = isPlain ? attribute.type : nil
            switch attribute.source {
            case .path(let path): tree.insert(path.components[...], .attribute(field))
            case .paths(let paths):
                for (part, path) in paths.enumerated() { tree.insert(path.components[...], .part(field, part)) }
                joins.append((field, paths.count))
            case .constant(let value): constants.append((field, converters[field], value))
            }
        }
        let brought = precedence.names(
            of: attributes.map(\.name) + relationships.map(\.name), before: source ?? EntitySource.mainName)
        fallbacks = layout.fields.indices.filter { index in
            let field = layout.fields[index]
            return !layout.key.contains(index)
                && brought.contains(field.relationship.map { layout.toOne[$0].name } ?? field.name)
        }
        if let field = layout.discriminator {
            constants.append((field, converters[field], .string(layout.name)))
        }
        // Fields that other plans or conditions read are not unknown.
        for path in known.flatMap(\.paths) { tree.insert(path.components[...], nil) }
        for path in (tombstone?.paths ?? []) + (recognition?.paths ?? []) { tree.insert(path.components[...], nil) }
        // An object nested in a record may read any member of the record.
        let isRead = model.readsSurroundings && !relationships.isEmpty
        let readsAll = isRead || recognition != nil || layout.extra != nil || !tree.bindings.isEmpty
        readMembers = readsAll ? nil : tree.children.map(\.name)
        surroundings =
            (attributes.flatMap(\.source.paths) + relationships.map(\.source)).filter(\.isOfSurroundings)
            .map(\.description)
        self.joins = joins
        self.metadata = metadata
        self.absent = absent ?? .auto
        members = OptionalMember.all(attributes, relationships, layout, absent: absent ?? .auto) { relationship in
            model.entity(named: relationship.target)?.isScanned == true
        }
        let keys = Set(layout.key.map { layout.fields[$0].name })
        isPositional =
            model.entity(named: layout.name)?.isScanned == false
            && attributes.contains { attribute in
                keys.contains(attribute.name) && attribute.source.paths.contains { $0.components.contains("@index") }
            }
        self.tree = tree
        outline = PlanOutline(tree)
        self.nullValues = nullValues
        self.constants = constants
        self.converters = converters
        self.plainTypes = plainTypes
    }
}

extension Matcher {
    /// The paths that the conditions read.
    var paths: [RemotePath] {
        conditions.compactMap { condition in
            switch condition {
            case .has(let path), .lacks(let path), .equals(let path, _), .matches(let path, _): path
            case .code: nil
            }
        }
    }
}
