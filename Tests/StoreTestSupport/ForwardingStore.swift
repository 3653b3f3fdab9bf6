public import Mapping
public import Model
public import StoreContract

/// A store that passes every call on to another; subclasses have faults.
open class ForwardingStore: Store, @unchecked Sendable {
    // Sendable because this constant is all of its state.
    /// The store below.
    public let base: any Store

    /// Creates a store over another one.
    public init(_ base: any Store) { self.base = base }

    open func page(_ base: any PageTransaction) -> any PageTransaction { base }
    open func beginPage() throws -> any PageTransaction { page(try base.beginPage()) }

    open func progress(of scope: ScanScope) throws -> ScanProgress? { try base.progress(of: scope) }
    open func forgetProgress(of scope: ScanScope) throws { try base.forgetProgress(of: scope) }
    open func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int {
        try base.removeAbandoned(scope, of: entity, as: source)
    }
    open func cursor(of scope: ScanScope) throws -> ScanCursor? { try base.cursor(of: scope) }
    open func starts(of scopes: [ScanScope], _ listing: MemberListing) throws -> [ScanStart] {
        try base.starts(of: scopes, listing)
    }
    open func newestAcknowledged() throws -> Int64 { try base.newestAcknowledged() }
    open func beginScan(_ scope: ScanScope, afterPage page: Int?) throws { try base.beginScan(scope, afterPage: page) }
    open func endScan(_ scope: ScanScope) { base.endScan(scope) }
    open func members(of listing: MemberListing) throws -> Set<ListedMember> { try base.members(of: listing) }
    open func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        try base.noteMissing(in: listing, seen: seen)
    }
    open func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool
    ) throws {
        try base.releaseQuarantine(of: entity, notSeenSince: instant, where: isListed)
    }
    open func removeAbandonedStubs() throws -> Int { try base.removeAbandonedStubs() }
    open func beginParents(of entity: Int) throws { try base.beginParents(of: entity) }
    open func lastRow(of entity: Int) throws -> Int64 { try base.lastRow(of: entity) }
    open func parents(
        of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        try base.parents(of: entity, where: conditions, after: row, limit: limit)
    }

    open func beginRun(kind: String) throws { try base.beginRun(kind: kind) }
    open func endRun(
        outcome: String, summary: String?, always: Bool, keeping retention: HistoryRetention
    ) throws -> Int64? {
        try base.endRun(outcome: outcome, summary: summary, always: always, keeping: retention)
    }
    open func runs(id: Int64?, limit: Int?) throws -> [RunRecord] { try base.runs(id: id, limit: limit) }
    open func lastRunWithChanges() throws -> Int64? { try base.lastRunWithChanges() }
    open func changes(of run: Int64, entity: String?, _ body: (RowChange) throws -> Void) throws {
        try base.changes(of: run, entity: entity, body)
    }
    open func history(of entity: Int, key: [StoredValue]) throws -> RowHistory {
        try base.history(of: entity, key: key)
    }
    open func undo(run id: Int64) throws -> Int64 { try base.undo(run: id) }
    open func columnsWithoutHistory(undoing id: Int64) throws -> [String] {
        try base.columnsWithoutHistory(undoing: id)
    }
    open func newestChange() throws -> Int64 { try base.newestChange() }
    open func changes(after number: Int64, limit: Int) throws -> [RowChange] {
        try base.changes(after: number, limit: limit)
    }

    open func outbox(entity: String?, state: OutboxEntry.State?) throws -> [OutboxEntry] {
        try base.outbox(entity: entity, state: state)
    }
    open func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry] {
        try base.outbox(entity: entity, key: key)
    }
    open func outboxEntry(_ id: Int64) throws -> OutboxEntry? { try base.outboxEntry(id) }
    open func pendingFields(entity: String, key: [StoredValue]) throws -> [String] {
        try base.pendingFields(entity: entity, key: key)
    }
    open func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>?
    ) throws -> OutboxEntry? {
        try base.nextToSend(at: instant, entities: entities, excluding: excluding, among: entries)
    }
    open func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] { try base.blockers(of: entry) }
    open func markSending(_ id: Int64) throws -> OutboxEntry? { try base.markSending(id) }
    open func settle(_ id: Int64, _ outcome: EditOutcome) throws { try base.settle(id, outcome) }
    open func recoverSending() throws -> [OutboxEntry] { try base.recoverSending() }
    open func wasDropped(_ id: Int64) throws -> Bool { try base.wasDropped(id) }
    open func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        try base.hasObject(root, key: key, before: instant)
    }

    open func edit(inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool) throws -> [EditReceipt] {
        try base.edit(inTurn: edits, joining: joining)
    }
    open func conflicts(entity: String?, key: [StoredValue]?) throws -> [EditConflict] {
        try base.conflicts(entity: entity, key: key)
    }
    open func resolve(entity: String, key: [StoredValue], column: String?, take: ConflictSide) throws {
        try base.resolve(entity: entity, key: key, column: column, take: take)
    }
    open func retryOutbox(_ ids: [Int64], sendingUnknown: Bool) throws {
        try base.retryOutbox(ids, sendingUnknown: sendingUnknown)
    }
    open func dropOutbox(_ ids: [Int64]) throws { try base.dropOutbox(ids) }

    open func rows(of query: RowQuery, _ body: (EntityRow) throws -> Void) throws { try base.rows(of: query, body) }
    open func rows(of query: RowQuery) throws -> [EntityRow] { try base.rows(of: query) }
    open func count(of query: RowQuery) throws -> Int { try base.count(of: query) }
    open func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow] {
        try base.rows(of: entity, keys: keys)
    }
    open func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        try base.links(of: entity, relationship, owners: owners)
    }
    open func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]> {
        try base.stubs(of: entity, among: keys)
    }
    open func key(of entity: Int, from texts: [String]) throws -> [StoredValue] {
        try base.key(of: entity, from: texts)
    }

    open func status() throws -> [EntityStatus] { try base.status() }
    open func stubs(of entity: String) throws -> [String] { try base.stubs(of: entity) }
    open func quarantined(entity: String?) throws -> [QuarantineEntry] { try base.quarantined(entity: entity) }
    open func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        try base.quarantinedCount(of: entity, since: instant)
    }
    open func removeQuarantined(_ id: Int64) throws { try base.removeQuarantined(id) }
    open func pages(of collection: CollectionName) throws -> [CollectionPage] { try base.pages(of: collection) }
    open func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) throws {
        try base.replacePages(numbers, of: collection, with: pages)
    }
    open func collections() throws -> [KeptCollection] { try base.collections() }
    open func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        try base.unknownFields(since: instant)
    }
    open func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue] {
        try base.extraValues(of: layout, limit: limit)
    }

    open func changes(of entities: [String], every interval: Duration) throws -> StoreChanges {
        try base.changes(of: entities, every: interval)
    }
    open func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges {
        try base.observe(query, every: interval)
    }
    open func dataVersion() throws -> Int64 { try base.dataVersion() }

    open var hasLock: Bool { base.hasLock }
    open func keep(_ lock: any StoreLock) { base.keep(lock) }
    open func close() throws { try base.close() }
}
