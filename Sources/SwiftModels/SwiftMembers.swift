internal import Model

/// The members of an entity's struct, in the order of the configuration: the key first.
struct SwiftMembers {
    /// An attribute or a relationship.
    struct Member {
        enum Kind: Equatable {
            case attribute(value: String)
            case toOne(target: String, columns: [String])
            case toMany(target: String)
        }

        /// The name in the configuration.
        var source: String
        /// The name in Swift, in back ticks where it is a keyword.
        var name: String
        var kind: Kind
        var isKey: Bool
        var isEditable: Bool

        /// The type of the property.
        var type: String {
            switch kind {
            case .attribute(let value): isKey ? value : "\(value)?"
            case .toOne(let target, _): "ObjectReference<\(target)>?"
            case .toMany(let target): "[\(target)]?"
            }
        }

        /// The kind and the name, for comments.
        var words: String {
            if case .attribute = kind { "attribute `\(source)`" } else { "relationship `\(source)`" }
        }

        /// The comment of the property.
        var summary: String {
            switch kind {
            case .attribute: isKey ? "A part of what identifies the object." : "The value; nil without one."
            case .toOne: "The target; nil without one."
            case .toMany: "The targets in their order, where the query included them."
            }
        }

        /// The expression that describes the member to queries.
        func descriptor(_ object: String) -> String {
            let literal = SwiftNames.literal(source)
            switch kind {
            case .attribute(let value): return "ObjectAttribute<\(object), \(value)>(\(literal))"
            case .toOne(let target, let columns):
                let names = columns.map(SwiftNames.literal).joined(separator: ", ")
                return "ToOneRelationship<\(object), \(target)>(\(literal), columns: [\(names)])"
            case .toMany(let target): return "ToManyRelationship<\(object), \(target)>(\(literal))"
            }
        }
    }

    /// How the struct is `Identifiable`.
    enum Identifier {
        /// By a property `id`, which is the key.
        case property
        /// By a property `id` that returns the key.
        case key
    }

    private(set) var all: [Member] = []
    let isWritable: Bool
    let names: SwiftNames

    /// The members of the key, in its order; empty for an entity whose objects have none.
    var key: [Member] { all.filter(\.isKey) }
    /// Whether an object is identified by its row alone.
    var isByRow: Bool { key.isEmpty }

    /// How the struct is `Identifiable`; nil where an attribute `id` is not the whole key.
    var identifier: Identifier? {
        if key.count == 1, key[0].name == "id" { return .property }
        return isByRow || all.contains { $0.name == "id" } ? nil : .key
    }

    init(_ entity: Entity, in model: Model, types: [String: String]) {
        isWritable = model.isWritable(entity)
        var names = SwiftNames(types: Set(types.values))
        let keys = model.key(of: entity)
        let key = keys.map(\.name)
        for attribute in keys + model.attributes(of: entity).filter({ !key.contains($0.name) }) {
            let isKey = key.contains(attribute.name)
            all.append(
                Member(
                    source: attribute.name, name: names.member(attribute.name),
                    kind: .attribute(value: names.type(of: attribute.type)), isKey: isKey,
                    isEditable: isWritable && !isKey && attribute.write.permission == .always))
        }
        for relationship in model.relationships(of: entity) {
            guard let target = types[relationship.target], let end = model.entity(named: relationship.target),
                let storage = model.storage(of: relationship, in: entity)
            else { continue }
            let mayEdit = isWritable && relationship.write.permission == .always
            var member = Member(
                source: relationship.name, name: names.member(relationship.name), kind: .toMany(target: target),
                isKey: false, isEditable: false)
            switch storage {
            case .columns(let columns):
                // A target without a key cannot be referred to.
                guard !model.key(of: end).isEmpty else { continue }
                member.kind = .toOne(target: target, columns: columns)
                member.isEditable = mayEdit
            case .joinTable: member.isEditable = mayEdit
            case .inverse: break
            }
            all.append(member)
        }
        self.names = names
    }
}
