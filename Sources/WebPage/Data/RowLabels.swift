internal import Mapping
internal import Model
internal import StoreContract

/// What people call an object: the text of its name or title.
struct RowLabels: Sendable {
    private static let names = ["name", "title", "label", "display_name", "full_name", "subject", "username", "text"]
    private var labels: [ObjectKey: String] = [:]

    /// Returns the field that names the objects of an entity; nil if none does.
    static func field(of layout: EntityLayout) -> Int? {
        for name in names {
            if let index = layout.columns.firstIndex(where: { $0.name == name && $0.type == .text }),
                !layout.keyFields.contains(where: { $0.name == name })
            {
                return index
            }
        }
        return nil
    }

    /// Returns the label of a row; nil if it has none.
    static func label(of values: [StoredValue], _ layout: EntityLayout) -> String? {
        guard let field = field(of: layout), field < values.count, case .text(let text) = values[field].form,
            !text.isEmpty
        else { return nil }
        return text.count > 60 ? "\(text.prefix(60))…" : text
    }

    /// Reads the labels of the objects that rows refer to, with one query per relationship.
    init(of rows: [EntityRow], _ layout: EntityLayout, _ model: CompiledModel, in store: any Store) throws {
        for one in layout.toOne {
            let keys = Set(rows.compactMap { RowLabels.reference(one, in: $0.values, layout) })
            try add(one.target, Array(keys), model, store)
        }
    }

    private mutating func add(
        _ entity: Int, _ keys: [[StoredValue]], _ model: CompiledModel, _ store: any Store
    ) throws {
        let layout = model.entities[entity]
        guard !keys.isEmpty, Self.field(of: layout) != nil else { return }
        for row in try store.rows(of: entity, keys: keys) {
            labels[ObjectKey(entity: entity, values: row.key)] = Self.label(of: row.values, layout)
        }
    }

    /// Returns the label of an object; nil if it has none.
    func label(_ entity: Int, _ key: [StoredValue]) -> String? { labels[ObjectKey(entity: entity, values: key)] }

    /// Returns the key of the object that a to-one relationship of a row refers to; nil without a target.
    ///
    /// - Parameter values: One value per field of ``EntityLayout/columns``.
    static func reference(
        _ one: EntityLayout.ToOne, in values: [StoredValue], _ layout: EntityLayout
    ) -> [StoredValue]? {
        let names = layout.fields[one.firstField..<one.firstField + one.fieldCount].map(\.name)
        let parts = names.compactMap { name in layout.columns.firstIndex { $0.name == name } }
            .filter { $0 < values.count }.map { values[$0] }
        return parts.count == one.fieldCount && parts.allSatisfy { $0 != .null } ? parts : nil
    }
}
