internal import StoreContract
internal import StoreRules
internal import Mapping

/// The tables and editors of a model, made once per connection, each from the ones that it needs.
final class Writers {
    let stubs: StubTable
    let joins: ListJoins
    let changes: ChangeLog
    let provenance: ProvenanceTable
    let scans: ScanTable
    let cursors: CursorTable
    let origins: OriginTable
    let orphans: OrphanTable
    let quarantine: QuarantineWriter
    let unknownFields: UnknownFieldTable
    let members: MemberTable
    let outbox: OutboxTable
    let conflicts: ConflictTable
    let acknowledged: AcknowledgedTable
    /// The notes of possibly unreferenced stubs, and their removal.
    let abandoned: AbandonedStubs
    let abandonedRemover: AbandonedStubRemover
    let rowEditors: RowEditors
    let linkWriters: LinkWriters
    let remover: RowRemover
    let objects: SQLiteObjectWriter
    let editTables: EditTables
    let edits: EditMerge
    let editCounts: EditCounts.Tables
    let sweep: Sweep
    let entityWriters: EntityWriters
    let linkMergers: LinkMergers
    let model: CompiledModel
    private let dataVersion: RawStatement
    private var seenVersion: Int64?

    init(_ model: CompiledModel, on connection: OpaquePointer?) throws {
        self.model = model
        stubs = try StubTable(on: connection, entities: model.entities.map(\.name))
        changes = ChangeLog(on: connection, entityCount: model.entities.count)
        cursors = CursorTable(on: connection)
        provenance = ProvenanceTable(on: connection, model: model, changes: changes, cursors: cursors)
        scans = ScanTable(on: connection)
        joins = ListJoins(model, on: connection)
        origins = OriginTable(on: connection)
        orphans = OrphanTable(on: connection, model: model)
        quarantine = QuarantineWriter(on: connection)
        unknownFields = UnknownFieldTable(on: connection)
        members = MemberTable(on: connection)
        outbox = try OutboxTable(model, on: connection)
        conflicts = ConflictTable(model, on: connection)
        acknowledged = try AcknowledgedTable(model, on: connection)
        dataVersion = RawStatement("PRAGMA data_version", on: connection)
        abandoned = AbandonedStubs(model, stubs)
        rowEditors = RowEditors(model, stubs, changes, abandoned, on: connection)
        linkWriters = LinkWriters(model, changes, abandoned, on: connection)
        remover = RowRemover(model, rowEditors, linkWriters, changes, orphans, provenance, members, on: connection)
        objects = SQLiteObjectWriter(
            model, rowEditors, linkWriters, remover, changes, provenance, on: connection)
        editTables = EditTables(objects, outbox: outbox, conflicts: conflicts, acknowledged: acknowledged)
        edits = EditMerge(editTables)
        let counts = EditCounts.Tables(outbox: outbox, acknowledged: acknowledged)
        editCounts = counts
        abandonedRemover = AbandonedStubRemover(model, abandoned, rowEditors, linkWriters, on: connection)
        sweep = Sweep(
            model, rowEditors, remover, origins: origins, cursors: cursors, outbox: outbox, on: connection)
        entityWriters = EntityWriters(
            model, stubs, changes, provenance, edits, counts, abandoned, on: connection)
        linkMergers = LinkMergers(
            model, linkWriters, changes, edits, counts, joins, orphans, abandoned, on: connection)
        // Dropping an edit may remove a row, and a removed row may drop an edit.
        remover.keepsEdited = { [unowned edits] root, key in
            try counts(of: root).isAny && edits.keeps(root, key)
        }
    }

    /// Discards what is known about the previous page.
    func beginPage() {
        edits.beginPage()
        objects.touched = []
    }

    /// Reloads the cached state if another process has written since; call it inside a transaction.
    ///
    /// - Returns: The version of the database, which each commit of another connection changes.
    @discardableResult
    func refresh() throws -> Int64 {
        _ = try dataVersion.step()
        let version = dataVersion.int64(0)
        dataVersion.reset()
        guard version != seenVersion else { return version }
        try reload()
        seenVersion = version
        return version
    }

    /// Marks the cached state as possibly wrong, so that the next page reloads it.
    func forgetSeen() { seenVersion = nil }

    /// Reloads the cached state.
    func reload() throws {
        try stubs.reload(model.entities.map(\.name))
        try outbox.reload()
        try acknowledged.reload()
        provenance.forgetMemory()
        unknownFields.forget()
        members.forget()
        rowEditors.forgetTables()
    }
}
