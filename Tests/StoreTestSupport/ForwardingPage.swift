public import Mapping
public import StoreContract

/// A page that passes every call on to another; subclasses have faults.
open class ForwardingPage: PageTransaction {
    /// The page below.
    public let base: any PageTransaction

    /// Creates a page over another one.
    public init(_ base: any PageTransaction) { self.base = base }

    open func announce(_ scans: [AnnouncedScan], _ objects: [ObjectKey]) throws {
        try base.announce(scans, objects)
    }
    open func access(_ body: () throws -> Void) throws { try base.access(body) }
    open func setSource(_ source: PageSource) throws { try base.setSource(source) }
    open func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        try base.merge(rows, outcome: outcome)
    }
    open func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        try base.ensure(references, created: created)
    }
    open func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        try base.mergeLinks(lists, changed: changed)
    }
    open func quarantine(_ record: QuarantinedRecord) throws { try base.quarantine(record) }
    open func mayHaveQuarantined(_ entity: Int) throws -> Bool { try base.mayHaveQuarantined(entity) }
    open func releaseQuarantine(of keys: [String], in entities: [Int], from source: String?) throws {
        try base.releaseQuarantine(of: keys, in: entities, from: source)
    }
    open func noteUnknownField(_ field: UnknownField) throws { try base.noteUnknownField(field) }
    open func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws {
        try base.noteMembers(members, of: listing)
    }
    open func follow(_ scan: ScanTarget) throws { try base.follow(scan) }
    open func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        try base.delete(objects, deleted: deleted)
    }
    open func markSkipped(_ rows: [SkippedRows]) throws { try base.markSkipped(rows) }
    open func markSkipped(entity: Int, key: [StoredValue]) throws { try base.markSkipped(entity: entity, key: key) }
    open func skipUnknown() throws { try base.skipUnknown() }
    open func listedRows() throws -> ListedRows? { try base.listedRows() }
    open func unconfirmedRows() throws -> Int { try base.unconfirmedRows() }
    open func finish(_ end: ScanEnd) throws -> SweepResult { try base.finish(end) }
    open func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        try base.finishParents(of: entity, rule)
    }
    open func acknowledge(_ entry: Int64, key: [StoredValue]?) throws { try base.acknowledge(entry, key: key) }
    open func saveProgress(_ scope: ScanScope, progress: ScanProgress?) throws {
        try base.saveProgress(scope, progress: progress)
    }
    open func commit() throws { try base.commit() }
    open func rollback() { base.rollback() }
}
