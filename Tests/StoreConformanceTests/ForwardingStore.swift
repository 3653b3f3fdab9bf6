import Mapping
import Model
import StoreContract

/// A store that passes every call on to another; subclasses have faults.
class ForwardingStore: Store, @unchecked Sendable {
    // Sendable because the store below is the only, constant state.
    let base: any Store

    init(_ base: any Store) { self.base = base }

    func page(_ base: any PageTransaction) -> any PageTransaction { base }
    func beginPage() throws -> any PageTransaction { page(try base.beginPage()) }

    func progress(of scope: ScanScope) throws -> ScanProgress? { try base.progress(of: scope) }
    func forgetProgress(of scope: ScanScope) throws { try base.forgetProgress(of: scope) }
    func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int {
        try base.removeAbandoned(scope, of: entity, as: source)
    }
    func cursor(of scope: ScanScope) throws -> ScanCursor? { try base.cursor(of: scope) }
    func newestAcknowledged() throws -> Int64 { try base.newestAcknowledged() }
    func beginScan(_ scope: ScanScope, afterPage page: Int?) throws { try base.beginScan(scope, afterPage: page) }
    func endScan(_ scope: ScanScope) { base.endScan(scope) }
    func members(of listing: MemberListing) throws -> Set<ListedMember> { try base.members(of: listing) }
    func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember] {
        try base.noteMissing(in: listing, seen: seen)
    }
    func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool
    ) throws {
        try base.releaseQuarantine(of: entity, notSeenSince: instant, where: isListed)
    }
    func removeAbandonedStubs() throws -> Int { try base.removeAbandonedStubs() }
    func beginParents(of entity: Int) throws { try base.beginParents(of: entity) }
    func lastRow(of entity: Int) throws -> Int64 { try base.lastRow(of: entity) }
    func parents(
        of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        try base.parents(of: entity, where: conditions, after: row, limit: limit)
    }

    func beginRun(kind: String) throws { try base.beginRun(kind: kind) }
    func endRun(
        outcome: String, summary: String?, always: Bool, keeping retention: HistoryRetention
    ) throws -> Int64? {
        try base.endRun(outcome: outcome, summary: summary, always: always, keeping: retention)
    }
    func runs(id: Int64?, limit: Int?) throws -> [RunRecord] { try base.runs(id: id, limit: limit) }
    func lastRunWithChanges() throws -> Int64? { try base.lastRunWithChanges() }
    func changes(of run: Int64, entity: String?, _ body: (RowChange) throws -> Void) throws {
        try base.changes(of: run, entity: entity, body)
    }
    func history(of entity: Int, key: [StoredValue]) throws -> RowHistory { try base.history(of: entity, key: key) }
    func undo(run id: Int64) throws -> Int64 { try base.undo(run: id) }
    func columnsWithoutHistory(undoing id: Int64) throws -> [String] { try base.columnsWithoutHistory(undoing: id) }
    func newestChange() throws -> Int64 { try base.newestChange() }
    func changes(after number: Int64, limit: Int) throws -> [RowChange] {
        try base.changes(after: number, limit: limit)
    }

    func outbox(entity: String?, state: OutboxEntry.State?) throws -> [OutboxEntry] {
        try base.outbox(entity: entity, state: state)
    }
    func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry] {
        try base.outbox(entity: entity, key: key)
    }
    func outboxEntry(_ id: Int64) throws -> OutboxEntry? { try base.outboxEntry(id) }
    func pendingFields(entity: String, key: [StoredValue]) throws -> [String] {
        try base.pendingFields(entity: entity, key: key)
    }
    func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>?
    ) throws -> OutboxEntry? {
        try base.nextToSend(at: instant, entities: entities, excluding: excluding, among: entries)
    }
    func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] { try base.blockers(of: entry) }
    func markSending(_ id: Int64) throws -> OutboxEntry? { try base.markSending(id) }
    func settle(_ id: Int64, _ outcome: EditOutcome) throws { try base.settle(id, outcome) }
    func recoverSending() throws -> [OutboxEntry] { try base.recoverSending() }
    func wasDropped(_ id: Int64) throws -> Bool { try base.wasDropped(id) }
    func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        try base.hasObject(root, key: key, before: instant)
    }

    func edit(inTurn edits: [([EditReceipt]) throws -> LocalEdit], joining: Bool) throws -> [EditReceipt] {
        try base.edit(inTurn: edits, joining: joining)
    }
    func conflicts(entity: String?, key: [StoredValue]?) throws -> [EditConflict] {
        try base.conflicts(entity: entity, key: key)
    }
    func resolve(entity: String, key: [StoredValue], column: String?, take: ConflictSide) throws {
        try base.resolve(entity: entity, key: key, column: column, take: take)
    }
    func retryOutbox(_ ids: [Int64], sendingUnknown: Bool) throws {
        try base.retryOutbox(ids, sendingUnknown: sendingUnknown)
    }
    func dropOutbox(_ ids: [Int64]) throws { try base.dropOutbox(ids) }

    func rows(of query: RowQuery, _ body: (EntityRow) throws -> Void) throws { try base.rows(of: query, body) }
    func rows(of query: RowQuery) throws -> [EntityRow] { try base.rows(of: query) }
    func count(of query: RowQuery) throws -> Int { try base.count(of: query) }
    func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow] { try base.rows(of: entity, keys: keys) }
    func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        try base.links(of: entity, relationship, owners: owners)
    }
    func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]> {
        try base.stubs(of: entity, among: keys)
    }
    func key(of entity: Int, from texts: [String]) throws -> [StoredValue] { try base.key(of: entity, from: texts) }

    func status() throws -> [EntityStatus] { try base.status() }
    func stubs(of entity: String) throws -> [String] { try base.stubs(of: entity) }
    func quarantined(entity: String?) throws -> [QuarantineEntry] { try base.quarantined(entity: entity) }
    func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        try base.quarantinedCount(of: entity, since: instant)
    }
    func removeQuarantined(_ id: Int64) throws { try base.removeQuarantined(id) }
    func pages(of collection: CollectionName) throws -> [CollectionPage] { try base.pages(of: collection) }
    func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) throws {
        try base.replacePages(numbers, of: collection, with: pages)
    }
    func collections() throws -> [KeptCollection] { try base.collections() }
    func unknownFields(since instant: String) throws -> [UnknownFieldRecord] {
        try base.unknownFields(since: instant)
    }
    func extraValues(of layout: EntityLayout, limit: Int) throws -> [ExtraValue] {
        try base.extraValues(of: layout, limit: limit)
    }

    func changes(of entities: [String], every interval: Duration) throws -> StoreChanges {
        try base.changes(of: entities, every: interval)
    }
    func observe(_ query: RowQuery, every interval: Duration) throws -> QueryChanges {
        try base.observe(query, every: interval)
    }
    func dataVersion() throws -> Int64 { try base.dataVersion() }

    var hasLock: Bool { base.hasLock }
    func keep(_ lock: any StoreLock) { base.keep(lock) }
    func close() throws { try base.close() }
}
