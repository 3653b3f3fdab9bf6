internal import Mapping
internal import Model
internal import StoreContract

/// One change of a schema's tables.
enum SchemaChange: StoreTableChange {
    case renameTable(from: String, to: String)
    case renameColumn(table: String, from: String, to: String)
    /// The new name of a relationship to many, whose lists the history of its owner's table has.
    case renameList(table: String, from: String, to: String)
    case renameKind(table: String, column: String, from: String, to: String)
    case addTable(TableDefinition)
    case addColumn(TableDefinition, TableDefinition.Column)
    /// The type of the column in the catalog, and that of its attribute, if it is known.
    case convert(table: String, TableDefinition.Column, from: String, AttributeType?)
    case changeKey(table: String, from: [String], to: [String])
    /// The types of the only column of the key; rows are numbered by it either before or after the change.
    case convertKey(table: String, column: String, from: String, to: String)
    case changeReference(table: String, TableDefinition.Reference, from: String)
    /// A reference of columns that are there already.
    case addReference(table: String, TableDefinition.Reference)
    /// The columns by their present names, the target, and the name of the constraint.
    case removeReference(table: String, columns: [String], from: String, constraint: String)
    case dropColumn(table: String, column: String)
    case dropTable(String)

    var change: TableChange {
        switch self {
        case .renameTable(let old, let new): .renameTable(from: old, to: new)
        case .renameColumn(let table, let old, let new), .renameList(let table, let old, let new):
            .renameColumn(table: table, from: old, to: new)
        case .renameKind(let table, _, let old, let new): .renameKind(table: table, from: old, to: new)
        case .addTable(let table): .addTable(table.name)
        case .addColumn(let table, let column):
            .addColumn(table: table.name, column: column.name, type: column.type.name)
        case .convert(let table, let column, let old, let attribute):
            if let attribute, SQLType(catalogName: old) == column.type {
                .convert(
                    table: table, column: column.name, from: attribute.rawValue, to: column.attribute.rawValue)
            } else {
                .convert(table: table, column: column.name, from: old, to: column.type.name)
            }
        case .changeKey(let table, let old, let new): .changeKey(table: table, from: old, to: new)
        case .convertKey(let table, let column, let old, let new):
            .convert(table: table, column: "\(column) (the key)", from: old, to: new)
        case .changeReference(let table, let reference, let old):
            .changeReference(table: table, columns: reference.columns, from: old, to: reference.target)
        case .addReference(let table, let reference):
            .addReference(table: table, columns: reference.columns, to: reference.target)
        case .removeReference(let table, let columns, let old, _):
            .removeReference(table: table, columns: columns, from: old)
        case .dropColumn(let table, let column): .dropColumn(table: table, column: column)
        case .dropTable(let table): .dropTable(table)
        }
    }

    /// Whether it is made also where changes of tables are not transactions: it can be run again after an interruption.
    var isRepeatable: Bool {
        switch self {
        case .addTable, .addColumn: true
        default: isOfReferenceOnly
        }
    }

    /// Whether it adds or removes a reference and no column, so that readers need not wait for it.
    var isOfReferenceOnly: Bool {
        switch self {
        case .addReference, .removeReference: true
        default: false
        }
    }
}
