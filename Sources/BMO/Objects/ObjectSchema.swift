internal import Mapping
internal import Model

/// The names and types of an entity's columns, for reading rows.
final class ObjectSchema: Sendable {
    let layout: EntityLayout
    let model: CompiledModel
    /// The names of the columns, in order.
    let names: [String]
    private let columns: [String: Int]
    /// For each column, its index among the fields of the layout.
    private let fields: [Int]

    init(_ index: Int, of model: CompiledModel) {
        self.model = model
        layout = model.entities[index]
        names = layout.columns.map(\.name)
        columns = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let all = Dictionary(
            layout.fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        fields = names.map { all[$0] ?? 0 }
    }

    /// The name of the entity that has the key.
    var root: String { model.entities[layout.root].name }

    func type(of name: String) -> AttributeType? { columns[name].map { layout.columns[$0].type } }

    func value(_ name: String, of row: [StoredValue]) -> LocalValue? {
        columns[name].map { LocalValue(row[$0], as: layout.columns[$0].type) }
    }

    /// Returns the relationship to one of this name.
    func toOne(_ name: String) -> EntityLayout.ToOne? { layout.toOne.first { $0.name == name } }

    /// Returns the index of the relationship to many of this name.
    func toMany(_ name: String) -> Int? { layout.toMany.firstIndex { $0.name == name } }

    /// Returns the key in a relationship to one; nil without a target.
    func storedReference(_ relationship: EntityLayout.ToOne, of row: [StoredValue]) -> [StoredValue]? {
        let first = relationship.firstField
        let wanted = first..<first + relationship.fieldCount
        let key = fields.indices.filter { wanted.contains(fields[$0]) }.map { row[$0] }
        return key.count == relationship.fieldCount && !key.contains(.null) ? key : nil
    }

    func reference(_ name: String, of row: [StoredValue]) -> ObjectID? {
        guard let relationship = toOne(name), let key = storedReference(relationship, of: row) else { return nil }
        return id(of: key, in: model.entities[relationship.target])
    }

    /// Returns the identity of an object with this stored key.
    func id(of key: [StoredValue], in layout: EntityLayout) -> ObjectID {
        let root = model.entities[layout.root]
        let types = layout.key.map { layout.fields[$0].type }
        return ObjectID(
            entity: root.name,
            key: key.enumerated().map { LocalValue($1, as: types.indices.contains($0) ? types[$0] : .integer) })
    }

    /// Returns whether a row is marked as deleted on the remote; false where the entity has no deletion column.
    func isDeleted(_ row: [StoredValue]) -> Bool {
        guard let field = layout.deletion, let column = fields.firstIndex(of: field) else { return false }
        return row[column] != .null
    }

    /// Returns the name of a row's entity.
    func kind(of row: [StoredValue]) -> String {
        guard let field = layout.discriminator, let column = fields.firstIndex(of: field),
            case .text(let name) = row[column]
        else { return layout.name }
        return name
    }
}
