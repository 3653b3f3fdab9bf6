internal import Mapping
internal import Model
internal import StoreContract

/// One change of a schema's tables.
enum SchemaChange {
    case renameTable(from: String, to: String)
    case renameColumn(table: String, from: String, to: String)
    case renameKind(table: String, column: String, from: String, to: String)
    case addTable(TableDefinition)
    case addColumn(TableDefinition, TableDefinition.Column)
    case convert(table: String, TableDefinition.Column, from: String)
    case changeKey(table: String, from: [String], to: [String])
    case changeReference(table: String, TableDefinition.Reference, from: String)
    case dropColumn(table: String, column: String)
    case dropTable(String)

    /// Whether the change cannot lose data.
    var isLossless: Bool {
        switch self {
        case .renameTable, .renameColumn, .renameKind, .addTable, .addColumn: true
        case .convert, .changeKey, .changeReference, .dropColumn, .dropTable: false
        }
    }

    /// Whether the database is usable without the change.
    var isOptional: Bool {
        switch self {
        case .dropColumn, .dropTable: true
        default: false
        }
    }

    /// The table that it changes, by its name afterwards.
    var table: String {
        switch self {
        case .renameTable(_, let table), .renameColumn(let table, _, _), .renameKind(let table, _, _, _),
            .convert(let table, _, _), .changeKey(let table, _, _), .changeReference(let table, _, _),
            .dropColumn(let table, _), .dropTable(let table):
            table
        case .addTable(let table), .addColumn(let table, _): table.name
        }
    }

    var words: String {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        switch self {
        case .renameTable(let old, let new): return "rename the table \(old) to \(new)"
        case .renameColumn(let table, let old, let new): return "rename the column \(table).\(old) to \(new)"
        case .renameKind(let table, _, let old, let new): return "call the \(old) in \(table) \(new)"
        case .addTable(let table): return "add the table \(table.name)"
        case .addColumn(let table, let column):
            return "add the column \(table.name).\(column.name) (\(column.type.name))"
        case .convert(let table, let column, let old):
            return "convert \(table).\(column.name) from \(old) to \(column.type.name)"
        case .changeKey(let table, let old, let new):
            return "change the key of \(table) from \(list(old)) to \(list(new))"
        case .changeReference(let table, let reference, let old):
            return "let \(table).\(list(reference.columns)) refer to \(reference.target) and no longer to \(old)"
        case .dropColumn(let table, let column): return "drop the column \(table).\(column)"
        case .dropTable(let name): return "drop the table \(name)"
        }
    }

    /// The change as a step of a plan.
    func step(cost: String? = nil) -> SchemaPlan.Step {
        SchemaPlan.Step(description: words, cost: cost, isLossless: isLossless, isOptional: isOptional)
    }
}
