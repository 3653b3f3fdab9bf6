internal import Mapping
internal import StoreContract
internal import StoreRules

/// A page's transaction: the rows that a batch needs are read together, and what differs is written at the commit.
final class PostgreSQLPage: PageTransaction {
    private let store: PostgreSQLStore
    private let tables: PostgreSQLTables
    private let page: TablePageWriter
    private var isOpen = true
    /// The positions of scans after this page.
    private var positions: [ScanScope: ScanProgress] = [:]
    /// How much of the state of scans is saved with this page.
    private var saved: [ScanScope: PostgreSQLStore.SavedPlace] = [:]
    private var notedFields: Set<ExactText> = []

    init(_ store: PostgreSQLStore) throws {
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
        do {
            try access { try page.settle() }
            try savePlaces()
        } catch {
            rollback()
            throw error
        }
        isOpen = false
        try store.commit(tables, page.writer.run, touched: page.writer.touched)
        store.run = page.writer.run
        store.scans = page.scans
        store.savedScans.merge(saved, uniquingKeysWith: { $1 })
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
        var keys: [Int: [RowKey]] = [:]
        for row in rows {
            let layout = tables.layout(of: row.entity)
            guard !layout.key.isEmpty else { continue }
            keys[layout.index, default: []].append(layout.key.map { row.cells[$0].value ?? .null })
        }
        try prefetch(keys)
        try page.merge(rows, outcome: outcome)
    }

    func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        var keys: [Int: [RowKey]] = [:]
        for reference in references {
            keys[tables.layout(of: reference.entity).index, default: []].append(
                reference.key.map { $0.value ?? .null })
        }
        try prefetch(keys)
        try page.ensure(references, created: created)
    }

    func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        for (_, group) in Dictionary(grouping: lists, by: { [$0.entity, $0.relationship] }) {
            guard let first = group.first else { continue }
            let layout = tables.layout(of: first.entity)
            let relationship = layout.toMany[first.relationship]
            let owners = group.map { list in layout.key.map { list.owner[$0].value ?? .null } }
            switch relationship.storage {
            case .inverse(let toOne):
                try tables.prefetchReferrers(tables.layout(of: relationship.target).index, toOne, to: owners)
            case .links(let table): try tables.prefetchLinks(table, of: owners)
            case .reversedLinks(let table): try tables.prefetchReversedLinks(table, to: owners)
            }
        }
        try page.mergeLinks(lists, changed: changed)
    }

    func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        try prefetch(
            Dictionary(
                objects.map { (tables.layout(of: $0.entity).index, [$0.values]) }, uniquingKeysWith: { $0 + $1 }))
        try page.delete(objects, deleted: deleted)
    }

    private func prefetch(_ keys: [Int: [RowKey]]) throws {
        for (root, keys) in keys.sorted(by: { $0.key < $1.key }) {
            try tables.prefetch(root, keys)
            try tables.prefetchState(root, keys)
        }
    }

    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        // A scan that begins after this check queries the remote after the remote accepted the edit.
        let isScanned = try !store.isRehearsal && store.isLocked(for: .writing)
        try page.acknowledge(entry, key: key, isScanned: isScanned)
    }

    // MARK: - Bookkeeping

    func quarantine(_ record: QuarantinedRecord) throws { try tables.quarantine(record) }

    func noteUnknownField(_ field: UnknownField) throws {
        guard notedFields.insert(ExactText("\(field.entity) \(field.path)")).inserted else { return }
        try tables.noteUnknownField(field.path, of: store.model.entities[field.entity].name)
    }

    func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws {
        let named = members.map { (entity: store.model.entities[$0.entity].name, path: $0.path) }
        try tables.noteMembers(named, in: listing)
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

    func saveProgress(_ scope: ScanScope, progress: ScanProgress?) throws {
        positions[scope] = nil
        guard let progress else {
            saved[scope] = PostgreSQLStore.SavedPlace()
            // Nothing was saved unless a page of this scan was, or an earlier scan was interrupted.
            return try tables.setSavedScan(nil, of: scope)
        }
        page.scans.logs[scope]?.endPage(progress.page)
        positions[scope] = progress
    }

    /// The pause between savings of a scan whose pages change nothing: such a scan, if it is interrupted, resumes from an
    /// older position and loses nothing.
    private static let pause = Duration.seconds(30)

    /// Saves the positions of scans, unless that is all that the page would write.
    private func savePlaces() throws {
        try tables.flush()
        for (scope, progress) in positions {
            var place = store.savedScans[scope] ?? PostgreSQLStore.SavedPlace()
            defer { saved[scope] = place }
            guard tables.hasWritten || ContinuousClock.now - place.time > Self.pause else { continue }
            let log = page.scans.logs[scope] ?? ScanLog()
            if log.rows.count < place.rows || log.owners.count < place.owners { place = PostgreSQLStore.SavedPlace() }
            try tables.save(progress, log, of: scope, from: (place.rows, place.owners))
            place = PostgreSQLStore.SavedPlace(rows: log.rows.count, owners: log.owners.count)
        }
    }
}
