public import Model

/// The layout of an entity's rows: one field per attribute, then the fields of each to-one relationship.
///
/// The entities of a family (a root and its sub-entities) share one table. They share its fields, key and
/// relationships, with the same indexes in each of their layouts. A ``MappingPlan`` describes where the values come
/// from.
public final class EntityLayout: Sendable {
    /// One column of a row.
    public struct Field: Sendable {
        /// The local name: of the attribute, of the relationship, or both joined by `_` for a target with several key
        /// attributes.
        public let name: String
        /// The type of the values.
        public let type: AttributeType
        /// The index in ``EntityLayout/toOne`` of the field's to-one relationship; nil for an attribute.
        public let relationship: Int?
        /// The merge of a value that changed here and on the remote, in place of the entity's policy.
        package var merge: FieldMerge?
    }

    /// A to-one relationship, whose fields hold the target's key.
    public struct ToOne: Sendable {
        /// The relationship's name.
        public let name: String
        /// The target's index in the ``CompiledModel``.
        public let target: Int
        /// The index of the first field.
        ///
        /// The others follow, in the order of the target's key.
        public let firstField: Int
        /// The number of fields.
        public let fieldCount: Int
    }

    /// A to-many relationship.
    public struct ToMany: Sendable {
        /// Where the relationship is stored.
        public enum Storage: Sendable, Equatable {
            /// In the target's to-one relationship with this index in its ``EntityLayout/toOne``.
            case inverse(toOne: Int)
            /// In a link table with this name, whose source is this entity.
            case links(table: String)
            /// In the link table of the target's relationship, whose target is this entity.
            case reversedLinks(table: String)
        }

        /// Whether the list is stored in the target's rows or in the target's link table.
        var isStoredAtTarget: Bool { if case .links = storage { false } else { true } }

        /// The relationship's name.
        public let name: String
        /// The target's index in the ``CompiledModel``.
        public let target: Int
        /// Where the relationship is stored.
        public let storage: Storage
        /// How a new list merges into the old one.
        public let merge: Relationship.Merge
        /// The target's attribute whose range of values in a new list limits the replacement; nil to replace the whole
        /// list.
        public let window: String?
        /// Whether a different order of the same objects is a change.
        public let isOrdered: Bool
        /// What happens to objects that a new list no longer contains.
        public let orphans: Relationship.Orphans
    }

    /// The entity's name.
    public let name: String
    /// The entity's index in the ``CompiledModel``.
    public let index: Int
    /// The index of the table's root entity.
    public let root: Int
    /// The table's name, which is the root's name.
    public let table: String
    /// All fields of the table: attributes, then to-one relationships.
    ///
    /// Those of sub-entities follow those of the root.
    public let fields: [Field]
    /// The fields that can have a value in objects of this entity and its sub-entities.
    public let columns: [Field]
    /// The indexes of the key fields, in key order; empty where every record is its own object.
    public let key: [Int]
    /// The key fields, in key order.
    public var keyFields: [Field] { key.map { fields[$0] } }
    /// Whether there is at most one object.
    public let isSingleton: Bool
    /// The to-one relationships.
    public let toOne: [ToOne]
    /// The to-many relationships.
    public let toMany: [ToMany]
    /// The field with the name of the object's entity, in a table of several entities.
    public let discriminator: Int?
    /// The field that collects the members that no attribute reads.
    public let extra: Int?
    /// The field with the time of a soft deletion; null in a listed row.
    public let deletion: Int?
    /// The names of the entity and of all its sub-entities: the possible values of ``discriminator`` in its objects.
    public let kinds: [String]
    /// What all entities of the family share.
    let family: FamilyLayout
    /// The field of each attribute, by its name.
    private let attributeFields: [String: Int]

    init(_ entity: Entity, index: Int, root: Int, _ table: TableLayout, _ family: FamilyLayout, in model: Model) {
        name = entity.name
        self.index = index
        self.root = root
        self.family = family
        let rootEntity = model.entities[root]
        self.table = rootEntity.name
        fields = table.fields
        key = table.key
        isSingleton = rootEntity.uniquing == .singleton
        toOne = table.toOne
        toMany = table.toMany
        discriminator = table.discriminator
        extra = table.extra
        deletion = table.deletion
        attributeFields = table.attributeFields
        kinds = family.kinds[entity.name] ?? []
        columns = family.columns[entity.name] ?? []
    }

    /// Returns the field of the attribute with this name.
    func field(ofAttribute name: String) -> Int? { attributeFields[name] }

    /// Returns whether a field's value identifies an object, as a part of the key or of a reference.
    public func isIdentity(_ field: Int) -> Bool { key.contains(field) || fields[field].relationship != nil }

    /// Returns the type of a column; nil if there is none with this name.
    public func type(of column: String) -> AttributeType? { fields.first { $0.name == column }?.type }

    /// Returns whether an object known as `old` becomes `new` when a record says so.
    ///
    /// An object becomes more specific, and never returns to a super-entity. Only a record that says so makes it a sibling
    /// entity; a mere reference does not.
    ///
    /// - Parameters:
    ///   - new: The entity that the record has.
    ///   - old: The entity of the stored object.
    ///   - isReference: Whether the entity is only the one that is expected where the object occurs.
    public func becomes(_ new: String, from old: String, isReference: Bool) -> Bool {
        guard let before = family.ancestors[old], let after = family.ancestors[new] else { return true }
        if after.contains(old) { return true }
        return !before.contains(new) && new != old && !isReference
    }

    /// Returns the columns that objects of an entity do not have.
    public func lacking(in entity: String) -> [Int] { family.lacking[entity]?.fields ?? [] }

    /// Returns the columns and the lists that an object loses when it becomes another entity; none where it becomes a more
    /// specific one.
    public func lost(becoming new: String, from old: String) -> (fields: [Int], lists: [Int]) {
        guard new != old, let after = family.ancestors[new], !after.contains(old) else { return ([], []) }
        return family.lacking[new] ?? ([], [])
    }
}
