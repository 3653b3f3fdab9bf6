internal import GRDB
internal import Importer
internal import Mapping

/// A page's writes in one SQLite transaction.
final class SQLitePageTransaction: PageTransaction {
    private let store: SQLiteStore
    private var isOpen = true
    private var hasWritten = false

    init(_ store: SQLiteStore) {
        self.store = store
    }

    func access(_ body: () throws -> Void) throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        // The errors of statements are the store's own already; GRDB's say that the file was closed.
        try SQLiteStore.translating("writing a page") { try store.writer.writeWithoutTransaction { _ in try body() } }
    }

    func setSource(_ source: PageSource) throws { try store.writers.changes.source = source }

    func merge(entity: Int, cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws -> MergeOutcome {
        let outcome = try store.writers.entity(entity).merge(cells, as: role)
        if outcome != .unchanged { hasWritten = true }
        return outcome
    }

    func ensure(entity: Int, key: UnsafeBufferPointer<Cell>) throws -> Bool {
        try store.writers.entity(entity).ensure(key, kind: store.model.entities[entity].name)
    }

    func mergeLinks(
        entity: Int, relationship: Int, owner: [Cell], targets: UnsafeBufferPointer<Cell>
    ) throws -> Bool {
        let changed = try store.writers.links(entity, relationship).merge(owner: owner, targets: targets)
        if changed { hasWritten = true }
        return changed
    }

    func quarantine(_ record: QuarantinedRecord) throws {
        hasWritten = true
        try store.writers.quarantine.write(record)
    }

    func noteUnknownField(_ field: UnknownField) throws {
        if try store.writers.unknownFields.note(store.model.entities[field.entity].name, field.path) {
            hasWritten = true
        }
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
                try store.writers.changes.pageCommitted()
            }
        }
        isOpen = false
    }

    func rollback() {
        guard isOpen else { return }
        isOpen = false
        // SQLite itself rolls back at the latest when the connection closes; the counts of stubs are read again.
        try? store.writer.writeWithoutTransaction { db in
            try store.rollbackTransaction(db)
            try store.writers.changes.pageRolledBack()
            try store.writers.reload()
        }
    }
}
