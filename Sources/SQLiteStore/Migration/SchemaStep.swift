internal import StoreContract
internal import Model

/// One change to the tables of a file.
enum SchemaStep {
    case renameTable(from: String, to: String)
    case renameColumn(table: String, from: String, to: String)
    /// The new name of a sub-entity, for its table's rows.
    case renameKind(table: String, from: String, to: String)
    case addTable(SchemaBuilder.Table)
    case addColumn(table: String, SchemaBuilder.Column)
    case convert(table: String, SchemaBuilder.Column, from: String)
    case changeKey(table: String, from: [String], to: [String])
    case changeReference(table: String, column: String, from: String, to: String)
    case dropColumn(table: String, column: String)
    case dropTable(String)

    var isLossless: Bool {
        switch self {
        case .renameTable, .renameColumn, .renameKind, .addTable, .addColumn: true
        case .convert, .changeKey, .changeReference, .dropColumn, .dropTable: false
        }
    }

    var isOptional: Bool {
        switch self {
        case .dropColumn, .dropTable: true
        default: false
        }
    }

    /// The table that has to be rewritten row by row.
    var rebuiltTable: String? {
        switch self {
        case .convert(let table, _, _), .changeKey(let table, _, _), .changeReference(let table, _, _, _),
            .dropColumn(let table, _):
            table
        default: nil
        }
    }

    var words: String {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        switch self {
        case .renameTable(let old, let new): return "rename the table \(old) to \(new)"
        case .renameColumn(let table, let old, let new): return "rename the column \(table).\(old) to \(new)"
        case .renameKind(let table, let old, let new): return "call the \(old) in \(table) \(new)"
        case .addTable(let table): return "add the table \(table.name)"
        case .addColumn(let table, let column): return "add the column \(table).\(column.name) (\(column.words))"
        case .convert(let table, let column, let old):
            return "convert \(table).\(column.name) from \(old) to \(column.words)"
        case .changeKey(let table, let old, let new):
            return "change the key of \(table) from \(list(old)) to \(list(new))"
        case .changeReference(let table, let column, let old, let new):
            return "let \(table).\(column) refer to \(new) and no longer to \(old)"
        case .dropColumn(let table, let column): return "drop the column \(table).\(column)"
        case .dropTable(let name): return "drop the table \(name)"
        }
    }
}

extension SchemaBuilder.Column {
    /// The configured type if known, otherwise SQLite's.
    var words: String { attribute?.rawValue ?? type }
}
