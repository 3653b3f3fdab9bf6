internal import StoreContract
internal import Mapping
internal import Model

/// A condition as SQL with its argument.
struct CompiledCondition {
    let sql: String
    /// The value for the `?` in `sql`; nil if it has none.
    let argument: StoredValue?

    /// Compiles a condition.
    ///
    /// - Throws: ``StoreError`` of code `request` for a missing field or a value that is not of the field's type: SQL
    ///   would read "abc" as the number 0.
    init(_ condition: RowCondition, on layout: EntityLayout) throws {
        guard let field = layout.columns.first(where: { $0.name == condition.field }) else {
            throw StoreError(
                .request, "\(layout.name) has no field \"\(condition.field)\"",
                remedy: "there are: \(layout.columns.map(\.name).joined(separator: ", "))")
        }
        let column = SchemaBuilder.quoted(field.name)
        guard let value = condition.value else {
            sql = condition.comparison == .notEqual ? "\(column) IS NOT NULL" : "\(column) IS NULL"
            argument = nil
            return
        }
        if condition.comparison == .like {
            sql = "\(column) LIKE ?"
            argument = .text(value)
            return
        }
        let isEquality = condition.comparison == .equal || condition.comparison == .notEqual
        switch try Self.argument(value, field, layout, isEquality: isEquality) {
        case .real(let number) where field.type == .decimal:
            // Decimals are stored as text, in which "9" sorts after "10".
            sql = "CAST(\(column) AS NUMERIC) \(condition.comparison.rawValue) ?"
            argument = .real(number)
        case let value:
            sql = "\(column) \(condition.comparison.rawValue) ?"
            argument = value
        }
    }

    private static func argument(
        _ text: String, _ field: EntityLayout.Field, _ layout: EntityLayout, isEquality: Bool
    ) throws -> StoredValue {
        let wanted: String
        switch field.type {
        case .integer:
            if let value = Int64(text) { return .integer(value) }
            if let value = Double(text), value.isFinite { return .real(value) }
            wanted = "an integer"
        case .real, .decimal:
            if let value = Double(text), value.isFinite {
                return field.type == .decimal && isEquality ? .text(text) : .real(value)
            }
            wanted = "a number"
        case .boolean:
            if ["true", "1"].contains(text.lowercased()) { return .integer(1) }
            if ["false", "0"].contains(text.lowercased()) { return .integer(0) }
            wanted = "true or false"
        case .data: return .bytes(Array(text.utf8))
        case .text, .timestamp, .date, .json, .url, .uuid: return .text(text)
        }
        throw StoreError(
            .request, "\(layout.name).\(field.name) is compared with \"\(text)\"", remedy: "give \(wanted)")
    }
}
