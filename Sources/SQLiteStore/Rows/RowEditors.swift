internal import StoreContract
internal import Mapping

/// The readers and writers of single rows, one per table, each made on first use.
final class RowEditors {
    /// The stubs among the rows.
    let stubs: StubTable
    /// What speaks against the deletion of rows.
    let deletionGuard: DeletionGuard
    private let model: CompiledModel
    private let changes: ChangeLog
    private let abandoned: AbandonedStubs
    private let connection: OpaquePointer?
    /// The references that the configuration does not have any more.
    let unused: UnusedReferences
    private var editors: [Int: RowEditor] = [:]
    private var numbers: [Int: RawStatement] = [:]
    private var keys: [Int: RawStatement] = [:]

    init(
        _ model: CompiledModel, _ stubs: StubTable, _ changes: ChangeLog, _ abandoned: AbandonedStubs,
        on connection: OpaquePointer?
    ) {
        self.model = model
        self.stubs = stubs
        self.changes = changes
        self.abandoned = abandoned
        self.connection = connection
        unused = UnusedReferences(model, on: connection)
        deletionGuard = DeletionGuard(model, on: connection)
    }

    /// Clears what is cached of the file's tables, after another process has written.
    func forgetTables() {
        unused.forget()
        deletionGuard.forget()
    }

    /// Returns the editor of the table of an entity.
    func callAsFunction(_ entity: Int) -> RowEditor {
        let root = model.entities[entity].root
        let editor =
            editors[root]
            ?? RowEditor(
                model.entities[root], stubs: stubs, changes: changes, abandoned: abandoned, unused: unused,
                on: connection)
        editors[root] = editor
        return editor
    }

    /// Returns the rowid of the row with a key; nil if there is none.
    func row(of root: Int, _ key: [StoredValue]) throws -> Int64? {
        let layout = model.entities[root]
        let condition = layout.key.map { "\(SchemaBuilder.quoted(layout.fields[$0].name)) = ?" }
        let select =
            numbers[root]
            ?? RawStatement(
                "SELECT \(layout.rowIDName) FROM \(SchemaBuilder.quoted(layout.table)) "
                    + "WHERE \(condition.joined(separator: " AND "))", on: connection)
        numbers[root] = select
        for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        return try select.step() ? select.int64(0) : nil
    }

    /// Returns the key of a row; nil if the row does not exist.
    func key(of root: Int, _ row: Int64) throws -> [StoredValue]? {
        let layout = model.entities[root]
        guard !layout.key.isEmpty else { return nil }
        let select =
            keys[root]
            ?? RawStatement(
                "SELECT \(layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }.joined(separator: ", ")) "
                    + "FROM \(SchemaBuilder.quoted(layout.table)) WHERE \(layout.rowIDName) = ?", on: connection)
        keys[root] = select
        select.bind(row, at: 1)
        defer { select.reset() }
        return try select.step() ? select.values(of: layout.keyFields) : nil
    }
}
