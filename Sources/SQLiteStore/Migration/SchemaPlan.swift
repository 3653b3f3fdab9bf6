internal import Importer
internal import Model

/// The changes that a file needs before its tables fit a model, in words.
public struct SchemaPlan: Sendable, Equatable {
    /// One change.
    public struct Step: Sendable, Equatable, CustomStringConvertible {
        /// The change as an instruction to a person.
        public var description: String
        /// The cost, if known: `3 of 120 values do not fit and become null`.
        public var cost: String?
        /// Whether the change cannot lose data; a sync makes such changes itself.
        public var isLossless: Bool
        /// Whether the file is usable without the change, which removes an unused column or table.
        public var isOptional: Bool
    }

    /// The changes, in order of execution.
    public var steps: [Step]

    /// Whether nothing has to be changed.
    public var isEmpty: Bool { steps.isEmpty }

    /// The changes that a sync requires but does not make itself.
    public var obstacles: [Step] { steps.filter { !$0.isLossless && !$0.isOptional } }

    /// The reason why the file cannot be used as it is.
    var refusal: StoreError {
        let words = obstacles.map(\.description)
        let shown = words.prefix(5).joined(separator: "; ") + (words.count > 5 ? "; and \(words.count - 5) more" : "")
        return StoreError(
            .schema, "the database does not fit the config any more: \(shown)",
            remedy: "`bmo migrate` shows the plan, and `bmo migrate --apply` follows it, after a backup")
    }
}

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
