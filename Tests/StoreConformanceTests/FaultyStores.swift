import Mapping
import Model
import StoreContract
import StoreTestSupport

/// Something that a store does wrong.
enum StoreFault: String, CaseIterable, Sendable {
    case forgetsRollbacks, ignoresTheLimit, forgetsWhatIsSent, sortsLists, keepsDryRuns, ignoresOffsets, losesStubs
    case forgetsTypes, sortsCollections, followsOneScan

    /// The check that finds it.
    var check: String {
        switch self {
        case .forgetsRollbacks: "a-rollback-leaves-nothing"
        case .ignoresTheLimit: "the-deletion-limit-holds"
        case .forgetsWhatIsSent: "entries-change-their-state"
        case .sortsLists: "lists-keep-their-order"
        case .keepsDryRuns: "a-dry-run-leaves-nothing"
        case .ignoresOffsets: "queries-sort-and-page"
        case .losesStubs: "stubs-are-filled"
        case .forgetsTypes: "rows-keep-their-types"
        case .sortsCollections: "collections-keep-their-order"
        case .followsOneScan: "several-scans-share-a-transaction"
        }
    }
}

extension WrappedStores {
    /// Opens the stores of another provider with a fault.
    init(_ base: any StoreProvider, with fault: StoreFault) {
        self.init(base) { location, model, use in
            let isKept = fault == .keepsDryRuns && use == .rehearsing
            return FaultyStore(try base.open(location, model: model, for: isKept ? .writing : use), fault)
        }
    }
}

private final class FaultyStore: ForwardingStore, @unchecked Sendable {
    private let fault: StoreFault

    init(_ base: any Store, _ fault: StoreFault) {
        self.fault = fault
        super.init(base)
    }

    override func page(_ base: any PageTransaction) -> any PageTransaction { FaultyPage(base, fault) }

    override func markSending(_ id: Int64) throws -> OutboxEntry? {
        fault == .forgetsWhatIsSent ? try outboxEntry(id) : try super.markSending(id)
    }

    override func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        let links = try super.links(of: entity, relationship, owners: owners)
        guard fault == .sortsLists else { return links }
        return links.mapValues { $0.sorted { $0.description < $1.description } }
    }

    override func pages(of collection: CollectionName) throws -> [CollectionPage] {
        var pages = try super.pages(of: collection)
        guard fault == .sortsCollections else { return pages }
        for page in pages.indices { pages[page].keys.sort { $0.description < $1.description } }
        return pages
    }

    override func rows(of query: RowQuery) throws -> [EntityRow] {
        var query = query
        if fault == .ignoresOffsets { query.offset = 0 }
        let rows = try super.rows(of: query)
        guard fault == .forgetsTypes else { return rows }
        return rows.map { EntityRow(key: $0.key, values: $0.values.map { $0.typed(as: .text) }) }
    }
}

private final class FaultyPage: ForwardingPage {
    private let fault: StoreFault
    private var hasFollowed = false

    init(_ base: any PageTransaction, _ fault: StoreFault) {
        self.fault = fault
        super.init(base)
    }

    override func rollback() {
        if fault == .forgetsRollbacks { try? base.commit() } else { super.rollback() }
    }

    override func follow(_ scan: ScanTarget) throws {
        if fault != .followsOneScan || !hasFollowed { try super.follow(scan) }
        hasFollowed = true
    }

    override func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        if fault != .losesStubs { try super.ensure(references, created: created) }
    }

    override func finish(_ end: ScanEnd) throws -> SweepResult {
        var end = end
        if fault == .ignoresTheLimit { end.sweep?.deletionLimit = nil }
        return try super.finish(end)
    }
}
