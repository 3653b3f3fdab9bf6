internal import Mapping
internal import StoreContract
internal import StoreRules

/// The objects of a file, as the rules of local edits and undo change them with the statements of imports.
final class SQLiteObjectWriter: ObjectWriter {
    let model: CompiledModel
    let stubs: StubTable
    let statements: StatementCache
    /// The roots of the entities whose rows changed in the open transaction.
    var touched: Set<Int> = []
    private let rowEditors: RowEditors
    private let linkWriters: LinkWriters
    private let remover: RowRemover
    private let changes: ChangeLog
    private let provenance: ProvenanceTable
    private var checks: [Int: ReferenceCheck] = [:]

    init(
        _ model: CompiledModel, _ rowEditors: RowEditors, _ linkWriters: LinkWriters, _ remover: RowRemover,
        _ changes: ChangeLog, _ provenance: ProvenanceTable, on connection: OpaquePointer?
    ) {
        self.model = model
        self.rowEditors = rowEditors
        self.linkWriters = linkWriters
        self.remover = remover
        self.changes = changes
        self.provenance = provenance
        stubs = rowEditors.stubs
        statements = StatementCache(on: connection)
    }

    // MARK: - Rows

    func row(_ root: Int, _ key: RowKey) throws -> [StoredValue]? { try rowEditors(root).row(key) }

    func isStub(_ root: Int, _ key: RowKey) throws -> Bool {
        try stubs.contains(model.entities[root].name, .key(key))
    }

    func leastValue(of field: Int, in root: Int) throws -> StoredValue {
        let layout = model.entities[root]
        let column = SchemaBuilder.quoted(layout.fields[field].name)
        return try statements.value("SELECT min(\(column)) FROM \(SchemaBuilder.quoted(layout.table))") ?? .null
    }

    func isReferred(_ root: Int, _ key: RowKey) throws -> Bool {
        let check =
            checks[root] ?? ReferenceCheck(to: model.entities[root], in: model, on: statements.connection)
        checks[root] = check
        return try check.isReferred(key)
    }

    func insert(_ root: Int, _ key: RowKey, _ columns: [NamedValue], isStub: Bool) throws {
        try rowEditors(root).insert(key, columns, isStub: isStub)
        touched.insert(root)
    }

    func update(
        _ root: Int, _ key: RowKey, from row: [StoredValue], to columns: [NamedValue], as change: RowChange.Kind
    ) throws {
        try rowEditors(root).update(key, from: row, to: columns, as: change)
        touched.insert(root)
    }

    func delete(_ root: Int, _ key: RowKey, _ row: [StoredValue]) throws {
        try rowEditors(root).delete(key, row)
        touched.insert(root)
    }

    func remove(entity: Int, key: RowKey) throws -> [Int: Int] {
        let counts = try remover.remove(entity: entity, key: key)
        touched.formUnion(counts.keys)
        return counts
    }

    func removeAlone(_ root: Int, _ key: RowKey, isFinal: Bool) throws -> Bool {
        touched.insert(root)
        return try remover.removeAlone(root, key, isFinal: isFinal)
    }

    // MARK: - Lists

    func list(_ root: Int, _ relationship: Int, of owner: RowKey) throws -> [RowKey] {
        try linkWriters(root, relationship).keys(of: owner)
    }

    func setList(_ root: Int, _ relationship: Int, of owner: RowKey, to wanted: [RowKey]) throws {
        if try linkWriters(root, relationship).set(wanted, of: owner) { touchEnds(root, relationship) }
    }

    func takeBackList(
        _ root: Int, _ relationship: Int, of owner: RowKey, from new: LinkSpan, to old: LinkSpan
    ) throws -> Bool {
        touchEnds(root, relationship)
        return try linkWriters(root, relationship).takeBack(old, new, of: owner)
    }

    private func touchEnds(_ root: Int, _ relationship: Int) {
        touched.insert(root)
        touched.insert(model.entities[model.entities[root].toMany[relationship].target].root)
    }

    // MARK: - History

    func record(
        _ root: Int, key: RowKey?, _ change: RowChange.Kind, old: ChangeRecord.Content?, new: ChangeRecord.Content?
    ) throws {
        try changes.record(
            model.entities[root], key: key.map { .key($0) }, change, old: old?.json, new: new?.json)
    }

    func runIDIfAny() throws -> Int64? { try changes.runIDIfAny() }

    func isLoading(_ root: Int) -> Bool { changes.isLoading(root) }

    func noteDropped(_ entry: Int64) throws { try changes.noteDropped(entry) }

    func noteCreated(_ root: Int, _ key: RowKey) throws {
        try provenance.noteCreated(model.entities[root], .key(key))
    }
}
