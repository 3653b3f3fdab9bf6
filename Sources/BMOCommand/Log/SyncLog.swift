internal import BMO
internal import Importer
internal import Logging
internal import SystemCalls

/// Writes the events and the report of a sync to a JSON log.
///
/// Of the pages, one a second for each entity has the level `info`, and the others `debug`.
final class SyncLog: Sendable {
    private struct Scan {
        var bridge: String
        var lastPage: ContinuousClock.Instant?
    }

    private let scans = Mutex<[String: Scan]>([:])

    /// Writes an event; may be called from any thread.
    func write(_ event: SyncEvent) {
        switch event {
        case .began(let entity, let bridge, let resumed):
            scans.withLock { $0[entity] = Scan(bridge: bridge) }
            var facts = facts(of: entity)
            facts["resumed_after_page"] = resumed.map(Logger.MetadataValue.number)
            CommandLog.write(.info, "scan began", facts)
        case .page(let page): write(page)
        case .warning(let entity, let message): CommandLog.write(.warning, message, facts(of: entity))
        case .note(let entity, let message): CommandLog.write(.info, message, facts(of: entity))
        case .detail(let entity, let message): CommandLog.write(.debug, message, facts(of: entity))
        case .ended(let entity): write(entity)
        }
    }

    /// Writes that a sync has ended.
    func write(_ report: SyncReport) {
        var facts: Logger.Metadata = [
            "outcome": "\(report.outcomeWord)", "seconds": .seconds(report.duration),
        ]
        facts["run"] = report.run.map(Logger.MetadataValue.number)
        CommandLog.write(.info, "sync ended", facts)
    }

    private func facts(of entity: String) -> Logger.Metadata {
        var facts: Logger.Metadata = ["entity": "\(entity)"]
        facts["bridge"] = scans.withLock { $0[entity]?.bridge }.map { "\($0)" }
        return facts
    }

    private func write(_ page: SyncEvent.PageEvent) {
        let now = ContinuousClock.now
        let isDue = scans.withLock { scans in
            if let last = scans[page.entity]?.lastPage, now - last < .seconds(1) { return false }
            scans[page.entity]?.lastPage = now
            return true
        }
        var facts = facts(of: page.entity).merging(Self.facts(page.counts)) { $1 }
        facts["page"] = .number(page.page)
        facts["records"] = .number(page.records)
        facts["total"] = page.total.map(Logger.MetadataValue.number)
        facts["seconds"] = .seconds(page.elapsed)
        CommandLog.write(isDue ? .info : .debug, "page imported", facts)
    }

    private func write(_ entity: SyncReport.Entity) {
        var facts = Self.facts(entity.counts)
        facts["entity"] = "\(entity.name)"
        facts["bridge"] = "\(entity.bridge)"
        facts["outcome"] = "\(entity.shownOutcome)"
        facts["pages"] = .number(entity.pages)
        facts["seconds"] = .seconds(entity.duration)
        CommandLog.write(.info, "scan ended", facts)
    }

    private static func facts(_ counts: ImportCounts.Entity) -> Logger.Metadata {
        [
            "inserted": .number(counts.inserted), "updated": .number(counts.updated),
            "unchanged": .number(counts.unchanged), "deleted": .number(counts.deleted),
            "quarantined": .number(counts.quarantined),
        ]
    }
}

extension SyncFailure {
    /// What the failure is about, for a JSON log.
    var facts: Logger.Metadata {
        var facts: Logger.Metadata = ["entity": "\(entity)", "bridge": "\(bridge)", "code": "\(code)"]
        facts["page"] = page.map(Logger.MetadataValue.number)
        facts["location"] = location.map { "\($0)" }
        facts["remedy"] = remedy.map { "\($0)" }
        return facts
    }
}

extension Logger.MetadataValue {
    /// A number, which stays one in a JSON log.
    static func number(_ value: some BinaryInteger) -> Self { .stringConvertible(Int64(clamping: value)) }

    /// A duration in seconds, to the millisecond.
    static func seconds(_ duration: Duration) -> Self {
        .stringConvertible((duration / .milliseconds(1)).rounded() / 1000)
    }
}
