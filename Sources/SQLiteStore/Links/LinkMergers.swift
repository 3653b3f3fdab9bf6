internal import StoreContract
internal import StoreRules
internal import Mapping

/// The mergers of imported lists, one per relationship, each made on first use.
final class LinkMergers {
    private let model: CompiledModel
    private let writers: LinkWriters
    private let changes: ChangeLog
    private let edits: EditMerge
    private let counts: EditCounts.Tables
    private let joins: ListJoins
    private let orphans: OrphanTable
    private let abandoned: AbandonedStubs
    private let connection: OpaquePointer?
    private var mergers: [[Int]: LinkMerger] = [:]

    init(
        _ model: CompiledModel, _ writers: LinkWriters, _ changes: ChangeLog, _ edits: EditMerge,
        _ counts: EditCounts.Tables,
        _ joins: ListJoins, _ orphans: OrphanTable,
        _ abandoned: AbandonedStubs, on connection: OpaquePointer?
    ) {
        self.model = model
        self.writers = writers
        self.changes = changes
        self.edits = edits
        self.counts = counts
        self.joins = joins
        self.orphans = orphans
        self.abandoned = abandoned
        self.connection = connection
    }

    /// Returns the merger of a relationship, by its index in the entity's layout.
    func callAsFunction(_ entity: Int, _ relationship: Int) throws -> LinkMerger {
        let root = model.entities[entity].root
        if let merger = mergers[[root, relationship]] { return merger }
        let layout = model.entities[root]
        let merger = try LinkMerger(
            layout.toMany[relationship], of: layout, model, into: writers(root, relationship), on: connection,
            changes: changes, orphans: orphans, edits: edits, counts: counts, abandoned: abandoned, joins: joins)
        mergers[[root, relationship]] = merger
        return merger
    }
}
