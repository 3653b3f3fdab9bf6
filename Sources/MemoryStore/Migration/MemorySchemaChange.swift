internal import Mapping
internal import Model
internal import StoreContract

/// One change of a database's tables.
enum MemorySchemaChange: Equatable, StoreTableChange {
    case renameTable(from: String, to: String)
    case renameColumn(table: String, from: String, to: String)
    case renameKind(table: String, from: String, to: String)
    case addTable(String)
    case addColumn(table: String, DatabaseSchema.Column)
    case convert(table: String, DatabaseSchema.Column, from: AttributeType)
    case changeKey(table: String, from: [String], to: [String])
    case changeReference(table: String, column: String, from: String?, to: String?)
    case dropColumn(table: String, column: String)
    case dropTable(String)

    var change: TableChange {
        switch self {
        case .renameTable(let old, let new): .renameTable(from: old, to: new)
        case .renameColumn(let table, let old, let new): .renameColumn(table: table, from: old, to: new)
        case .renameKind(let table, let old, let new): .renameKind(table: table, from: old, to: new)
        case .addTable(let table): .addTable(table)
        case .addColumn(let table, let column):
            .addColumn(table: table, column: column.name, type: column.type.rawValue)
        case .convert(let table, let column, let old):
            .convert(table: table, column: column.name, from: old.rawValue, to: column.type.rawValue)
        case .changeKey(let table, let old, let new): .changeKey(table: table, from: old, to: new)
        case .changeReference(let table, let column, let old, let new):
            .changeReference(table: table, columns: [column], from: old, to: new)
        case .dropColumn(let table, let column): .dropColumn(table: table, column: column)
        case .dropTable(let table): .dropTable(table)
        }
    }
}
