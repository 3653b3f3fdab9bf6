import Mapping
import StoreContract

/// A page that passes every call on to another; subclasses have faults.
class ForwardingPage: PageTransaction {
    let base: any PageTransaction

    init(_ base: any PageTransaction) { self.base = base }

    func access(_ body: () throws -> Void) throws { try base.access(body) }
    func setSource(_ source: PageSource) throws { try base.setSource(source) }
    func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        try base.merge(rows, outcome: outcome)
    }
    func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        try base.ensure(references, created: created)
    }
    func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws {
        try base.mergeLinks(lists, changed: changed)
    }
    func quarantine(_ record: QuarantinedRecord) throws { try base.quarantine(record) }
    func mayHaveQuarantined(_ entity: Int) throws -> Bool { try base.mayHaveQuarantined(entity) }
    func releaseQuarantine(of keys: [String], in entities: [Int], from source: String?) throws {
        try base.releaseQuarantine(of: keys, in: entities, from: source)
    }
    func noteUnknownField(_ field: UnknownField) throws { try base.noteUnknownField(field) }
    func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws {
        try base.noteMembers(members, of: listing)
    }
    func follow(_ scan: ScanTarget) throws { try base.follow(scan) }
    func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        try base.delete(objects, deleted: deleted)
    }
    func markSkipped(_ rows: [SkippedRows]) throws { try base.markSkipped(rows) }
    func markSkipped(entity: Int, key: [StoredValue]) throws { try base.markSkipped(entity: entity, key: key) }
    func skipUnknown() throws { try base.skipUnknown() }
    func listedRows() throws -> ListedRows? { try base.listedRows() }
    func unconfirmedRows() throws -> Int { try base.unconfirmedRows() }
    func finish(_ end: ScanEnd) throws -> SweepResult { try base.finish(end) }
    func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        try base.finishParents(of: entity, rule)
    }
    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws { try base.acknowledge(entry, key: key) }
    func saveProgress(_ scope: ScanScope, progress: ScanProgress?) throws {
        try base.saveProgress(scope, progress: progress)
    }
    func commit() throws { try base.commit() }
    func rollback() { base.rollback() }
}
