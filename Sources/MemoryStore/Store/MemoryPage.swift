internal import Mapping
internal import StoreContract
internal import StoreRules

/// A page's transaction: the store's state changes with the commit only.
final class MemoryPage: PageTransaction {
    private let store: MemoryStore
    private let tables: MemoryTables
    private let page: TablePageWriter
    private var isOpen = true

    init(_ store: MemoryStore) throws {
        self.store = store
        tables = try store.begin()
        page = TablePageWriter(TableWriter(tables, run: store.run), scans: store.scans)
        store.open(tables)
    }

    deinit { rollback() }

    func access(_ body: () throws -> Void) throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        guard !store.isClosed else { throw StoreError(.internal, "the database is closed") }
        try body()
    }

    func commit() throws {
        try access { try page.settle() }
        isOpen = false
        store.run = page.writer.run
        store.scans = page.scans
        store.commit(tables, touched: page.writer.touched)
    }

    func rollback() {
        guard isOpen else { return }
        isOpen = false
        store.rollBack()
    }

    // MARK: - Rows

    func setSource(_ source: PageSource) { page.writer.source = source }

    func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        try page.merge(rows, outcome: outcome)
    }

    func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        try page.ensure(references, created: created)
    }

    func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        try page.mergeLinks(lists, changed: changed)
    }

    func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        try page.delete(objects, deleted: deleted)
    }

    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        // A scan that begins after this check queries the remote after the remote accepted the edit.
        let isScanned = !store.isRehearsal && !store.database.writing.isFree
        try page.acknowledge(entry, key: key, isScanned: isScanned)
    }

    // MARK: - Bookkeeping

    func quarantine(_ record: QuarantinedRecord) { tables.quarantine(record) }

    func noteUnknownField(_ field: UnknownField) {
        tables.noteUnknownField(field.path, of: store.model.entities[field.entity].name)
    }

    func noteMembers(_ members: [ListedMember], of listing: MemberListing) {
        for member in members {
            tables.noteMember(member.path, of: store.model.entities[member.entity].name, in: listing)
        }
    }

    // MARK: - The scan

    func follow(_ scan: ScanTarget) { page.follow(scan) }

    func markSkipped(_ rows: [SkippedRows]) throws { try page.markSkipped(rows) }

    func markSkipped(entity: Int, key: [StoredValue]) throws { try page.markSkipped(entity: entity, key: key) }

    func skipUnknown() { page.skipUnknown() }

    func listedRows() -> ListedRows? { page.listedRows() }

    func finish(_ end: ScanEnd) throws -> SweepResult { try page.finish(end) }

    func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        try page.finishParents(of: entity, rule)
    }

    func saveProgress(_ scope: ScanScope, progress: ScanProgress?) {
        guard let progress else { return tables.setSavedScan(nil, of: scope) }
        page.scans.logs[scope]?.endPage(progress.page)
        tables.setSavedScan(
            SavedScan(progress: progress, saved: Clock.now(), log: page.scans.logs[scope] ?? ScanLog()), of: scope)
    }
}
