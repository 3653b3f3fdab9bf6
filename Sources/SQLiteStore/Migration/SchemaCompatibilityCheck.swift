internal import GRDB
internal import StoreContract
internal import StoreRules
internal import Mapping

/// A check that a file has the tables and columns that a read-only command needs.
struct SchemaCompatibilityCheck {
    private let model: CompiledModel
    /// The tables to read, in lower case; nil for all.
    private let tables: Set<String>?
    private let db: Database

    /// Creates the check.
    ///
    /// - Parameter entities: The indexes of the entities to read; nil for all.
    init(_ model: CompiledModel, _ entities: [Int]?, in db: Database) {
        self.model = model
        self.db = db
        tables = entities.map { Set(model.tables(of: $0).map { $0.lowercased() }) }
    }

    /// Checks the file.
    ///
    /// - Throws: ``StoreError`` of code `schema` that names the first missing table or column.
    func check() throws {
        guard try !SchemaUpdate.isCurrent(model, in: db, needsBookkeeping: false) else { return }
        try ManagedTables.checkIsOurs(model, in: db)
        guard try SchemaUpdate.hasBookkeeping(in: db) else { throw Self.missing("the bookkeeping of this bmo") }
        let steps = try SchemaDifference(of: model, in: db).steps.filter { step in
            tables.map { tables in step.table.map { tables.contains($0.lowercased()) } ?? false } ?? true
        }
        let plan = SchemaPlan(steps)
        guard plan.obstacles.isEmpty else { throw plan.refusal }
        if let missing = steps.lazy.compactMap(\.missing).first { throw Self.missing(missing.what, missing.there) }
    }

    private static func missing(_ what: String, _ there: String? = nil) -> StoreError {
        StoreError(
            .schema, "the database does not have \(what) yet" + (there.map { " (it is \($0) there)" } ?? ""),
            remedy: "`bmo sync` or `bmo migrate --apply` updates the database")
    }
}

extension SchemaStep {
    /// The table that the step changes, by its new name; nil if the step drops it.
    fileprivate var table: String? {
        switch self {
        case .renameTable(_, let table), .renameColumn(let table, _, _), .renameList(let table, _, _),
            .renameKind(let table, _, _), .addColumn(let table, _), .convert(let table, _, _),
            .changeKey(let table, _, _), .changeReference(let table, _, _, _), .dropColumn(let table, _):
            table
        case .addTable(let table): table.name
        case .dropTable: nil
        }
    }

    /// What the file lacks before this step, and its present name in the file.
    fileprivate var missing: (what: String, there: String?)? {
        switch self {
        case .renameTable(let old, let new): ("the table \(new)", old)
        case .renameColumn(let table, let old, let new): ("the column \(table).\(new)", old)
        // The step that renames its table says what is missing.
        case .renameList: nil
        case .renameKind(let table, let old, let new): ("the entity \(new) in the table \(table)", old)
        case .addTable(let table): ("the table \(table.name)", nil)
        case .addColumn(let table, let column): ("the column \(table).\(column.name)", nil)
        case .convert, .changeKey, .changeReference, .dropColumn, .dropTable: nil
        }
    }
}
