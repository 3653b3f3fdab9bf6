/// One change of a database's tables, in the words of a plan; see ``SchemaPlan``.
package enum TableChange: Sendable {
    case renameTable(from: String, to: String)
    case renameColumn(table: String, from: String, to: String)
    /// The new name of a sub-entity, for its table's rows.
    case renameKind(table: String, from: String, to: String)
    case addTable(String)
    case addColumn(table: String, column: String, type: String)
    case convert(table: String, column: String, from: String, to: String)
    case changeKey(table: String, from: [String], to: [String])
    case changeReference(table: String, columns: [String], from: String?, to: String?)
    /// A reference that is added to columns without a change of their values.
    case addReference(table: String, columns: [String], to: String)
    /// A reference that is removed from columns without a change of their values.
    case removeReference(table: String, columns: [String], from: String)
    case dropColumn(table: String, column: String)
    case dropTable(String)

    /// Whether the change cannot lose data.
    package var isLossless: Bool {
        switch self {
        case .renameTable, .renameColumn, .renameKind, .addTable, .addColumn, .addReference, .removeReference: true
        case .convert, .changeKey, .changeReference, .dropColumn, .dropTable: false
        }
    }

    /// Whether the database is usable without the change.
    package var isOptional: Bool {
        switch self {
        case .dropColumn, .dropTable: true
        default: false
        }
    }

    /// The table that it changes, by its name afterwards.
    package var table: String {
        switch self {
        case .renameTable(_, let table), .renameColumn(let table, _, _), .renameKind(let table, _, _),
            .addTable(let table), .addColumn(let table, _, _), .convert(let table, _, _, _),
            .changeKey(let table, _, _), .changeReference(let table, _, _, _), .addReference(let table, _, _),
            .removeReference(let table, _, _), .dropColumn(let table, _),
            .dropTable(let table):
            table
        }
    }

    /// The change in words.
    package var words: String {
        func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
        switch self {
        case .renameTable(let old, let new): return "rename the table \(old) to \(new)"
        case .renameColumn(let table, let old, let new): return "rename the column \(table).\(old) to \(new)"
        case .renameKind(let table, let old, let new): return "rename the sub-entity \(old) in \(table) to \(new)"
        case .addTable(let table): return "add the table \(table)"
        case .addColumn(let table, let column, let type): return "add the column \(table).\(column) (\(type))"
        case .convert(let table, let column, let old, let new):
            return "convert \(table).\(column) from \(old) to \(new)"
        case .changeKey(let table, let old, let new):
            return "change the key of \(table) from \(list(old)) to \(list(new))"
        case .changeReference(let table, let columns, let old, let new):
            let reference = "\(table).\(list(columns))"
            return switch (old, new) {
            case (let old?, let new?): "change the reference \(reference) from \(old) to \(new)"
            case (let old?, nil): "remove the reference \(reference) to \(old)"
            case (nil, let new?): "add the reference \(reference) to \(new)"
            case (nil, nil): "change the reference \(reference)"
            }
        case .addReference(let table, let columns, let new):
            return "add the reference \(table).\(list(columns)) to \(new)"
        case .removeReference(let table, let columns, let old):
            return "remove the reference \(table).\(list(columns)) to \(old)"
        case .dropColumn(let table, let column): return "drop the column \(table).\(column)"
        case .dropTable(let name): return "drop the table \(name)"
        }
    }
}

/// A store's own description of a change, with what it needs to make it.
package protocol StoreTableChange {
    /// The change in the words of a plan.
    var change: TableChange { get }
}

extension StoreTableChange {
    /// Whether the change cannot lose data.
    package var isLossless: Bool { change.isLossless }

    /// Whether the database is usable without the change.
    package var isOptional: Bool { change.isOptional }

    /// The change in words.
    package var words: String { change.words }

    /// Returns the change as a step of a plan.
    package func step(cost: String? = nil, remedy: String? = nil) -> SchemaPlan.Step {
        SchemaPlan.Step(
            description: words, cost: cost, isLossless: isLossless, isOptional: isOptional, remedy: remedy)
    }
}
