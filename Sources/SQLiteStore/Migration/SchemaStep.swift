internal import StoreContract
internal import Model

/// One change to the tables of a file.
enum SchemaStep: StoreTableChange {
    case renameTable(from: String, to: String)
    case renameColumn(table: String, from: String, to: String)
    /// The new name of a relationship to many, whose lists the history of its owner's table has.
    case renameList(table: String, from: String, to: String)
    /// The new name of a sub-entity, for its table's rows.
    case renameKind(table: String, from: String, to: String)
    case addTable(SchemaBuilder.Table)
    case addColumn(table: String, SchemaBuilder.Column)
    case convert(table: String, SchemaBuilder.Column, from: String)
    case changeKey(table: String, from: [String], to: [String])
    /// `from` and `to` name the targets; nil stands for a column without a reference.
    case changeReference(table: String, column: String, from: String?, to: String?)
    case dropColumn(table: String, column: String)
    case dropTable(String)

    /// The table that has to be rewritten row by row.
    var rebuiltTable: String? {
        switch self {
        case .convert(let table, _, _), .changeKey(let table, _, _), .changeReference(let table, _, _, _),
            .dropColumn(let table, _):
            table
        default: nil
        }
    }

    var change: TableChange {
        switch self {
        case .renameTable(let old, let new): .renameTable(from: old, to: new)
        case .renameColumn(let table, let old, let new), .renameList(let table, let old, let new):
            .renameColumn(table: table, from: old, to: new)
        case .renameKind(let table, let old, let new): .renameKind(table: table, from: old, to: new)
        case .addTable(let table): .addTable(table.name)
        case .addColumn(let table, let column): .addColumn(table: table, column: column.name, type: column.words)
        case .convert(let table, let column, let old):
            .convert(table: table, column: column.name, from: old, to: column.words)
        case .changeKey(let table, let old, let new): .changeKey(table: table, from: old, to: new)
        case .changeReference(let table, let column, let old, let new):
            .changeReference(table: table, columns: [column], from: old, to: new)
        case .dropColumn(let table, let column): .dropColumn(table: table, column: column)
        case .dropTable(let table): .dropTable(table)
        }
    }
}

extension SchemaBuilder.Column {
    /// The configured type if known, otherwise SQLite's.
    var words: String { attribute?.rawValue ?? type }
}
