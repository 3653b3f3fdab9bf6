package import Mapping
package import StoreContract

/// A page's transaction over a store's tables: the store's state changes with the commit only.
package final class TablePage<Owner: TableStore>: PageTransaction {
    private let store: Owner
    private let tables: Owner.Tables
    private let page: TablePageWriter
    private var isOpen = true
    /// The positions of scans after this page; nil for a scan that is complete.
    private var positions: [ScanScope: ScanProgress?] = [:]
    private var notedFields: Set<UnknownField> = []
    private var notedMembers: [MemberListing: Set<ListedMember>]

    init(_ store: Owner) throws {
        self.store = store
        let tables = try store.beginPageTransaction()
        store.withState { $0.page = tables }
        self.tables = tables
        notedMembers = store.withState { $0.notedMembers }
        page = TablePageWriter(TableWriter(tables, run: store.run), scans: store.scans)
    }

    deinit { rollback() }

    package func access(_ body: () throws -> Void) throws {
        guard isOpen else { throw StoreError(.internal, "the page's transaction has ended") }
        try store.withState { try $0.checkOpen() }
        try body()
    }

    package func commit() throws {
        do {
            try access { try page.settle() }
        } catch {
            rollback()
            throw error
        }
        isOpen = false
        try store.commit(tables, page, positions: positions)
        store.withState { $0.notedMembers = notedMembers }
        page.committed()
    }

    package func rollback() {
        guard isOpen else { return }
        isOpen = false
        store.rollBack()
    }

    package func announce(_ scans: [AnnouncedScan], _ objects: [ObjectKey]) throws {
        try prefetch(objects.map { ($0.entity, $0.values) })
        try tables.prefetchCursors(of: scans.filter(\.mayLeaveCursor).map(\.target.scope))
        let listings = scans.filter { $0.sweeps && $0.target.isListing && $0.target.parent != nil }.map(\.target)
        for (entity, listings) in Dictionary(grouping: listings, by: \.entity)
        where !model.entities[entity].key.isEmpty {
            let layout = model.entities[entity]
            try tables.prefetchRows(of: layout.root, in: listings.map { SweepScope($0, layout, in: model) })
        }
    }

    // MARK: - Rows

    package func setSource(_ source: PageSource) { page.writer.source = source }

    package func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        let roots = Set(rows.map { model.entities[$0.entity].root })
        for root in roots.sorted() where !model.entities[root].key.isEmpty {
            try tables.prefetch(
                root, mergedWith: roots.count == 1 ? rows : rows.filter { model.entities[$0.entity].root == root })
        }
        try page.merge(rows, outcome: outcome)
    }

    package func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        try prefetch(references.map { ($0.entity, $0.key.map { $0.value ?? .null }) })
        try page.ensure(references, created: created)
    }

    package func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        for (_, group) in Dictionary(grouping: lists, by: { [$0.entity, $0.relationship] }) {
            guard let first = group.first else { continue }
            let layout = layout(first.entity)
            let relationship = layout.toMany[first.relationship]
            let owners = group.map { list in layout.key.map { list.owner[$0].value ?? .null } }
            switch relationship.storage {
            case .inverse(let toOne):
                try tables.prefetchReferrers(self.layout(relationship.target).index, toOne, to: owners)
            case .links(let table): try tables.prefetchLinks(table, of: owners)
            case .reversedLinks(let table): try tables.prefetchReversedLinks(table, to: owners)
            }
        }
        try page.mergeLinks(lists, changed: changed)
    }

    package func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        try prefetch(objects.map { ($0.entity, $0.values) })
        try page.delete(objects, deleted: deleted)
    }

    private func layout(_ entity: Int) -> EntityLayout { tables.layout(of: entity) }

    /// Announces the rows of objects that have a key.
    private func prefetch(_ objects: [(entity: Int, key: RowKey)]) throws {
        let keys = Dictionary(grouping: objects) { layout($0.entity).index }
        for (root, objects) in keys.sorted(by: { $0.key < $1.key }) where !model.entities[root].key.isEmpty {
            try tables.prefetch(root, objects.map(\.key))
            try tables.prefetchState(root, objects.map(\.key))
        }
    }

    private var model: CompiledModel { store.model }

    package func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        // A scan that begins after this check queries the remote after the remote accepted the edit.
        let isScanned = try !store.isRehearsal && store.isLocked(for: .writing)
        try page.acknowledge(entry, key: key, isScanned: isScanned)
    }

    // MARK: - Bookkeeping

    package func quarantine(_ record: QuarantinedRecord) throws { try tables.quarantine(record) }

    package func mayHaveQuarantined(_ entity: Int) throws -> Bool {
        try tables.mayHaveQuarantined(model.entities[entity].name)
    }

    package func releaseQuarantine(of keys: [String], in entities: [Int], from source: String?) throws {
        guard !keys.isEmpty else { return }
        try tables.release(keys, of: entities.map { model.entities[$0].name }, from: source)
    }

    package func noteUnknownField(_ field: UnknownField) throws {
        guard notedFields.insert(field).inserted else { return }
        try tables.noteUnknownField(field.path, of: model.entities[field.entity].name)
    }

    package func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws {
        guard notedMembers[listing]?.isSuperset(of: members) != true else { return }
        try tables.noteMembers(members.map { (model.entities[$0.entity].name, $0.path) }, in: listing)
        // A member has the request that returned it last.
        notedMembers = notedMembers.filter {
            $0.key == listing || ($0.key.entity, $0.key.source) != (listing.entity, listing.source)
        }
        notedMembers[listing, default: []].formUnion(members)
    }

    package func members(ofListing entity: Int) throws -> Set<ListedMember> {
        try page.writer.members(ofListing: entity)
    }

    // MARK: - The scan

    package func follow(_ scan: ScanTarget) {
        page.follow(scan)
        page.batches = scan.isListing ? store.memory(of: scan.scope).map { PageBatches($0) } : nil
    }

    package func repeatBatch(_ digest: BatchDigest) -> Bool { page.repeatBatch(digest) }

    package func rememberBatch(_ batch: (digest: BatchDigest, summary: BatchSummary)?) { page.rememberBatch(batch) }

    package func markSkipped(_ rows: [SkippedRows]) throws { try page.markSkipped(rows) }

    package func markSkipped(entity: Int, key: [StoredValue]) throws { try page.markSkipped(entity: entity, key: key) }

    package func skipUnknown() { page.skipUnknown() }

    package func listedRows() -> ListedRows? { page.listedRows() }

    package func unconfirmedRows() throws -> Int { try page.unconfirmedRows() }

    package func finish(_ end: ScanEnd) throws -> SweepResult { try page.finish(end) }

    package func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        try page.finishParents(of: entity, rule)
    }

    package func saveProgress(_ scope: ScanScope, progress: ScanProgress?) {
        if let progress { page.scans.logs[scope]?.endPage(progress.page) }
        positions[scope] = .some(progress)
    }
}
