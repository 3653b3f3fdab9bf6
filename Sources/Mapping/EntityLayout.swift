public import Model

/// What an entity's rows look like: a field per attribute, then the fields of each relationship to one.
///
/// The entities of a family - a root and its sub-entities - share one table, and so one list of fields, one key and one
/// list of relationships, whose indexes mean the same in each of their layouts. What feeds the fields is a
/// ``MappingPlan``.
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
        /// The attribute of the target within whose values a list replaces; nil where it replaces all.
        public let window: String?
        /// Whether the same objects in another order are a change.
        public let isOrdered: Bool
        /// What becomes of objects that a new list leaves behind.
        public let orphans: Relationship.Orphans
    }

    /// The entity's name.
    public let name: String
    /// The entity's index in the ``CompiledModel``.
    public let index: Int
    /// The index of the entity whose table this is: its own, but for a sub-entity.
    public let root: Int
    /// The table's name: the root's.
    public let table: String
    /// All fields of the table: attributes in their order, then relationships to one; sub-entities' after the root's.
    public let fields: [Field]
    /// The fields that objects of this entity and of its sub-entities may have a value in.
    public let columns: [Field]
    /// The indexes of the fields that make the key, in the order of the key; none where every record is an object.
    public let key: [Int]
    /// Whether there is one object at most.
    public let isSingleton: Bool
    /// The relationships to one.
    public let toOne: [ToOne]
    /// The relationships to many.
    public let toMany: [ToMany]
    /// The field that tells an object's entity by its name, in a table of several entities.
    public let discriminator: Int?
    /// The field of what no attribute reads.
    public let extra: Int?
    /// The field with the time of a soft deletion: null in a row that a walk lists.
    public let deletion: Int?
    /// The names of the entity and of all sub-entities below it: what ``discriminator`` may be for one of its objects.
    public let kinds: [String]
    /// Per entity of the family: its super-entities, itself not among them.
    private let ancestors: [String: [String]]

    init(_ entity: Entity, index: Int, root: Int, _ table: TableLayout, in model: Model) {
        name = entity.name
        self.index = index
        self.root = root
        let family = model.family(of: entity)
        self.table = family[0].name
        fields = table.fields
        key = table.key
        isSingleton = family[0].uniquing == .singleton
        toOne = table.toOne
        toMany = table.toMany
        discriminator = table.discriminator
        extra = table.extra
        deletion = table.deletion
        ancestors = Dictionary(
            family.map { ($0.name, model.lineage(of: $0).dropLast().map(\.name)) }, uniquingKeysWith: { $1 })
        let below = family.filter { model.isKind($0, of: [entity.name]) }
        kinds = below.map(\.name)
        let near = below.flatMap { model.lineage(of: $0) }
        let names = Set(near.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        let own = [table.discriminator, table.extra, table.deletion].compactMap { $0 } + table.key
        columns = table.fields.enumerated().filter { index, field in
            own.contains(index) || names.contains(field.relationship.map { table.toOne[$0].name } ?? field.name)
        }.map(\.element)
    }

    /// Whether an object that is known as `old` becomes `new`, when a record says that it is.
    ///
    /// It becomes what is more special, and never goes back to a super-entity. To a sibling only a description leads,
    /// not a mere reference.
    public func becomes(_ new: String, from old: String, isReference: Bool) -> Bool {
        guard let before = ancestors[old], let after = ancestors[new] else { return true }
        if after.contains(old) { return true }
        return !before.contains(new) && new != old && !isReference
    }
}
