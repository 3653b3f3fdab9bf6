internal import GRDB
internal import Importer
internal import Mapping

/// A page's writes in one SQLite transaction.
final class SQLitePageTransaction: PageTransaction {
    private let store: SQLiteStore
    private var isOpen = true
    private var hasWritten = false
    /// Per entity: whether rows of it were written.
    private var touched: [Bool]

    init(_ store: SQLiteStore) {
        self.store = store
        touched = Array(repeating: false, count: store.model.entities.count)
    }

    /// The entities whose rows were written, each with all that share its table.
    private var touchedFamilies: Set<Int> {
        let roots = Set(touched.indices.filter { touched[$0] }.map { store.model.entities[$0].root })
        return Set(store.model.entities.indices.filter { roots.contains(store.model.entities[$0].root) })
    }

    func access(_ body: () throws -> Void) throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        // The errors of statements are the store's own already; GRDB's say that the file was closed.
        try SQLiteStore.translating("writing a page") { try store.writer.writeWithoutTransaction { _ in try body() } }
    }

    func setSource(_ source: PageSource) throws { try store.writers.changes.source = source }

    func merge(entity: Int, cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws -> MergeOutcome {
        let outcome = try store.writers.entity(entity).merge(cells, as: role)
        if outcome != .unchanged {
            hasWritten = true
            touched[entity] = true
        }
        return outcome
    }

    func ensure(entity: Int, key: UnsafeBufferPointer<Cell>) throws -> Bool {
        let isNew = try store.writers.entity(entity).ensure(key, kind: store.model.entities[entity].name)
        if isNew { touched[entity] = true }
        return isNew
    }

    func mergeLinks(
        entity: Int, relationship: Int, owner: [Cell], targets: UnsafeBufferPointer<Cell>
    ) throws -> Bool {
        let changed = try store.writers.links(entity, relationship).merge(owner: owner, targets: targets)
        if changed {
            hasWritten = true
            touched[entity] = true
            touched[store.model.entities[entity].toMany[relationship].target] = true
        }
        return changed
    }

    func quarantine(_ record: QuarantinedRecord) throws {
        hasWritten = true
        try store.writers.quarantine.write(record)
    }

    func saveProgress(entity: Int, progress: WalkProgress?) throws {
        try store.writers.progress.save(
            entity: store.model.entities[entity].name, progress: progress, isOptional: !hasWritten)
    }

    func commit() throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        try SQLiteStore.translating("committing a page") {
            try store.writer.writeWithoutTransaction { db in
                try store.commitTransaction(db)
                if !store.isRehearsal {
                    store.watcherInUse?.committed(touchedFamilies, at: store.totalChanges(db))
                }
                try store.writers.changes.pageCommitted()
            }
        }
        isOpen = false
    }

    func rollback() {
        guard isOpen else { return }
        isOpen = false
        // SQLite itself rolls back at the latest when the connection closes.
        store.writer.writeWithoutTransaction { db in store.takeBack(db) }
    }
}
