internal import StoreContract
internal import StoreRules
internal import Mapping

/// The writers of imported rows, one per table, each made on first use.
final class EntityWriters {
    private let model: CompiledModel
    private let stubs: StubTable
    private let provenance: ProvenanceTable
    private let changes: ChangeLog
    private let edits: EditMerge
    private let counts: EditCounts.Tables
    private let abandoned: AbandonedStubs
    private let triggers: TriggerCheck
    private let connection: OpaquePointer?
    private var writers: [EntityWriter?]

    init(
        _ model: CompiledModel, _ stubs: StubTable, _ changes: ChangeLog, _ provenance: ProvenanceTable,
        _ edits: EditMerge,
        _ counts: EditCounts.Tables,
        _ abandoned: AbandonedStubs, on connection: OpaquePointer?
    ) {
        self.model = model
        self.stubs = stubs
        self.provenance = provenance
        self.changes = changes
        self.edits = edits
        self.counts = counts
        self.abandoned = abandoned
        self.connection = connection
        triggers = TriggerCheck(on: connection)
        writers = Array(repeating: nil, count: model.entities.count)
    }

    /// Returns the writer of an entity's table.
    func callAsFunction(_ entity: Int) -> EntityWriter {
        let root = model.entities[entity].root
        if let writer = writers[root] { return writer }
        let writer = EntityWriter(
            model.entities[root],
            contested: model.family(of: root).reduce(into: []) { $0.formUnion(model.contestedFields(of: $1)) },
            on: connection, stubs: stubs, changes: changes, provenance: provenance, edits: edits,
            counts: counts(of: root),
            abandoned: abandoned, triggers: triggers)
        writers[root] = writer
        return writer
    }

    /// Resets the open scans before an access ends, so that no statement stays active after it.
    func pause() {
        triggers.forget()
        for writer in writers { writer?.pause() }
    }
}
