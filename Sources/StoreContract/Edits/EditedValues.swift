package import Mapping
internal import Model

/// The values of a local edit, validated against the entity with clear errors before a database would refuse them.
package struct EditedValues {
    /// The values with their fields' indexes in the layout, in order.
    package let fields: [(field: Int, value: StoredValue)]

    /// Validates the values.
    ///
    /// - Throws: ``StoreError`` of code `request`.
    package init(_ values: [String: StoredValue], of layout: EntityLayout, in model: CompiledModel) throws {
        let own = Set([layout.discriminator, layout.extra, layout.deletion].compactMap { $0 })
        // Excludes the columns of sub-entities.
        let lineage = model.model.lineage(of: model.model.entities[layout.index])
        let names = Set(lineage.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        let columns = Set(
            layout.fields.indices.filter { index in
                let field = layout.fields[index]
                return own.contains(index) || layout.key.contains(index)
                    || names.contains(field.relationship.map { layout.toOne[$0].name } ?? field.name)
            }.map { layout.fields[$0].name })
        var fields: [(field: Int, value: StoredValue)] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard columns.contains(name), let field = layout.fields.firstIndex(where: { $0.name == name }) else {
                throw Self.unknown(name, layout, own, columns)
            }
            guard !own.contains(field) else {
                throw StoreError(
                    .request, "\(layout.name).\(name) is a column that bmo itself writes", remedy: "set another")
            }
            let fitting = try Self.fitting(value, layout.fields[field], layout)
            fields.append((field, layout.isIdentity(field) ? fitting.identity : fitting))
        }
        self.fields = fields.sorted { $0.field < $1.field }
    }

    /// Returns the value of a field; nil if the edit does not set it.
    package func value(_ field: Int) -> StoredValue? { fields.first { $0.field == field }?.value }

    private static func unknown(
        _ name: String, _ layout: EntityLayout, _ own: Set<Int>, _ columns: Set<String>
    ) -> StoreError {
        let valid = layout.columns.map(\.name).filter { column in
            columns.contains(column) && !own.contains { layout.fields[$0].name == column }
        }
        if layout.toMany.contains(where: { $0.name == name }) {
            return StoreError(
                .request, "\(layout.name).\(name) is a relationship to many, and no column",
                remedy: "give the keys of all its objects as links")
        }
        return StoreError(
            .request, "\(layout.name) has no column \"\(name)\"",
            remedy: suggestion(for: name, among: valid) ?? "there are: \(valid.joined(separator: ", "))")
    }

    private static func fitting(
        _ value: StoredValue, _ field: EntityLayout.Field, _ layout: EntityLayout
    ) throws -> StoredValue {
        switch (field.type, value.form) {
        case (_, .null): return value
        case (.integer, .integer), (.real, .real), (.data, .bytes): return value.typed(as: field.type)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return value.typed(as: .boolean)
        case (.real, .integer(let number)): return .real(Double(number))
        case (.text, .text), (.decimal, .text), (.timestamp, .text), (.date, .text), (.json, .text), (.url, .text),
            (.uuid, .text):
            return value.typed(as: field.type)
        default:
            throw StoreError(
                .request,
                "\(layout.name).\(field.name) has the type \(field.type.rawValue), and \"\(value)\" is not such a value",
                remedy: "give a value of that type, or null")
        }
    }
}
