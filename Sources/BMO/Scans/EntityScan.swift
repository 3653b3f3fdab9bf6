internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import Tracing

/// The scans of one entity: through its own bridge, then through its further sources.
struct EntityScan {
    let context: SyncContext
    let entity: Entity
    let index: Int
    var part = Part.all

    /// How much of the scans is done; `nil` stands for the entity's own bridge.
    enum Part: Sendable {
        /// All scans.
        case all
        /// One scan.
        case source(EntitySource?)
        /// The parents after a row, through another one.
        case range(EntitySource?, after: Int64, through: Int64)
        /// What follows the ranges of a scan by parents, with all that they covered.
        case end(EntitySource?, ScanListing)
    }

    /// The result of the scans.
    struct Result: Sendable {
        let entity: SyncReport.Entity
        /// The counts of all entities that the scans changed.
        let counts: ImportCounts
        /// What the last scan covered; nil if it failed.
        let listing: ScanListing?
    }

    /// Scans the entity; never throws, because failures are part of the result.
    func run() async -> Result {
        await withSpan("bmo.entity") { span in
            let result = await scanAll()
            span.note(result.entity)
            return result
        }
    }

    private func scanAll() async -> Result {
        let clock = ContinuousClock()
        let start = clock.now
        let model = context.workspace.model
        let tally = EntityTally(
            entity: entity, index: index, bridge: entity.bridge, count: model.entities.count,
            report: context.report)
        var result = SyncReport.Entity(
            name: entity.name, bridge: entity.bridge, outcome: .finished, pages: 0, resumedAfterPage: nil,
            counts: ImportCounts.Entity(), warnings: [], duration: .zero)
        let place = ListingScan.ProgressTracker()
        var listing: ScanListing?
        do {
            for source in sources {
                place.page = nil
                listing = try await scan(source, tally, place)
            }
            if !isRange { warnOfAbsentPaths(tally) }
            // The records of a listing may all be of sub-entities.
            let own = tally.result.counts.sum(of: model.family(of: index))
            if !isRange, own.quarantined > 0, own.inserted + own.updated + own.unchanged == 0 {
                throw AllRecordsRejected(count: tally.result.hasRepeats ? nil : own.quarantined)
            }
        } catch {
            listing = nil
            result.outcome = outcome(error, page: place.page)
        }
        let state = tally.result
        result.pages = state.pages
        result.resumedAfterPage = state.resumedAfterPage
        result.warnings = state.warnings
        result.parents = state.parents
        result.isIncomplete = state.isIncomplete
        result.counts = state.counts[index]
        result.duration = clock.now - start
        context.report(.ended(result))
        return Result(entity: result, counts: state.counts, listing: listing)
    }

    /// Warns of misspelt paths, which silently result in null in each row.
    private func warnOfAbsentPaths(_ tally: EntityTally) {
        guard let present = tally.result.present else { return }
        let model = context.workspace.model
        let words = AbsentPathWarnings(model.model.ownAttributes(of: entity), in: model.entities[index])
        let which = present.records == 1 ? "1 record" : "\(present.records) records"
        for warning in words.warnings(of: present, which: which, likelyOnly: true) { tally.warn(warning) }
    }

    /// The scans in their order; nil for the entity's own listing.
    private var sources: [EntitySource?] {
        switch part {
        case .all:
            (context.isPartial ? [nil] : context.workspace.scanOrder(of: entity)).filter { source in
                context.shards.map { $0.part(of: index, source) != .nothing } ?? true
            }
        case .source(let source), .range(let source, _, _), .end(let source, _): [source]
        }
    }

    /// Whether only some of the parents are scanned.
    private var isRange: Bool { if case .range = part { true } else { false } }

    private func outcome(_ error: any Error, page: Int?) -> SyncReport.Entity.Outcome {
        if Task.isCancelled || error is CancellationError { return .interrupted }
        if let failure = error as? BridgeFailure, failure.code == .cancelled { return .interrupted }
        return .failed(SyncFailure(error, entity: entity, bridge: entity.bridge, page: page))
    }

    /// Scans through one bridge; returns what the scan covered.
    private func scan(
        _ source: EntitySource?, _ tally: EntityTally, _ place: ListingScan.ProgressTracker
    ) async throws -> ScanListing {
        let plan = try ScanPlan(entity, index, source: source, in: context.workspace)
        let listing: ScanListing
        let sweep: SweepResult
        do {
            if let parent = plan.parent {
                let divides = context.shards?.part(of: index, source) == .ownParents
                let scans = ParentScans(
                    plan: plan, scan: parent, context: context, tally: tally,
                    shard: divides ? context.shards?.shard : nil)
                switch part {
                case .all, .source: (listing, sweep) = try await scans.run()
                case .range(_, let after, let through):
                    return try await scans.run(after: after, through: through)
                case .end(_, let ranges): (listing, sweep) = (ranges, try await scans.end())
                }
            } else {
                let result = try await ListingScan(plan: plan, context: context, parent: nil, tally: tally)
                    .run(at: place)
                (listing, sweep) = (result.listing, result.sweep)
            }
        } catch let error as SyncFailure {
            throw error
        } catch  where source != nil {
            // The failure belongs to the source's bridge.
            if Task.isCancelled || error is CancellationError { throw error }
            throw SyncFailure(error, entity: entity, bridge: plan.bridge, page: place.page)
        }
        place.page = nil
        if listing.isWhole, plan.isListing, entity.sources.isEmpty {
            // Through the gate: otherwise this would become part of another scan's open page.
            try await context.gate.pass {
                try await context.thread.run { [context, entity] in
                    try context.store.releaseQuarantine(of: entity.name, notSeenSince: listing.began) {
                        !listing.skipped.contains($0.representation, isCut: $0.cutFrom != nil)
                    }
                }
            }
        }
        try await warnOfMissingMembers(plan, listing, tally)
        if let held = sweep.held { throw SyncFailure(held, plan, context.options.agreedDeletions) }
        return listing
    }
}

extension Workspace {
    /// Returns the scans of an entity in their order; nil for its own listing.
    func scanOrder(of entity: Entity) -> [EntitySource?] {
        let model = model.model
        // A tree begins with the objects of another source; sources scanned per object come last.
        let first = entity.sources.filter { model.isTree(entity) && model.bringsTop($0, of: entity) }
        let last = entity.sources.filter { source in !first.contains { $0.name == source.name } }
        return first + [nil] + last
    }
}

extension SyncFailure {
    /// Creates a sync failure from any error.
    init(_ error: any Error, entity: Entity, bridge: String, page: Int?) {
        if let known = error as? SyncFailure {
            self = known
            return
        }
        self.init(
            entity: entity.name, bridge: bridge, page: page, code: Self.code(of: error), message: "\(error)",
            remedy: nil, location: nil, remote: nil)
        switch error {
        case let full as QuarantineFull:
            self.init(full, entity: entity, bridge: bridge, page: page)
        case let failure as BridgeFailure:
            message = failure.message
            remedy = failure.remedy
            location = failure.location
            remote = failure.remote
        case let failure as StoreError:
            message = failure.message
            remedy = failure.remedy
        case let failure as SecretError:
            message = failure.message
            remedy = failure.remedy
        case let errors as ConfigurationErrors: message = errors.description
        case is AllRecordsRejected:
            remedy = "`bmo quarantine \(entity.name)` shows why"
        default: break
        }
    }

    /// Returns the code of any error, also of one that no entity has caused.
    static func code(of error: any Error) -> String {
        switch error {
        case let failure as SyncFailure: failure.code
        case let failure as BridgeFailure: failure.code.rawValue
        case is StoreError: "database"
        case is SecretError, is ConfigurationErrors: "configuration"
        case is QuarantineFull, is AllRecordsRejected: "quarantine"
        default: "internal"
        }
    }
}

extension SyncFailure {
    /// Creates the failure of a sweep that the deletion limit stopped.
    ///
    /// - Parameter agreed: The number of rows that may be deleted in place of the limit.
    fileprivate init(_ held: SweepResult.LimitExceeded, _ plan: ScanPlan, _ agreed: Int?) {
        let remedy = "if that is right, `bmo sync \(plan.entity.name) --allow-deletes` deletes them"
        if let origin = held.origin {
            self.init(
                entity: plan.entity.name, bridge: plan.bridge, page: nil, code: SyncFailure.deletionsHeld,
                message:
                    "\(held.gone) of \(held.total) objects are not in the listing of \(plan.origin ?? "the bridge"), "
                    + "and the rows came from \(origin): none of them was deleted, and everything else was imported",
                remedy: "if two configurations share the database, give each its own; \(remedy)", location: nil,
                remote: nil, heldDeletions: held.gone)
            return
        }
        let deletionLimit = plan.policy.deletionLimit
        let share = Int((deletionLimit.share * 100).rounded())
        let limit = agreed.map { "the \($0) that were agreed to" } ?? "\(share) % and \(deletionLimit.rows)"
        let scopes = held.scopes > 1 ? " in the listings of \(held.scopes) parents" : ""
        self.init(
            entity: plan.entity.name, bridge: plan.bridge, page: nil, code: SyncFailure.deletionsHeld,
            message:
                "\(held.gone) of \(held.total) objects are missing from the listing\(scopes), more than \(limit): none of "
                + "them was deleted, and everything else was imported",
            remedy: remedy, location: nil, remote: nil, heldDeletions: held.gone)
    }
}

/// The failure of a scan that quarantined all of its records.
private struct AllRecordsRejected: Error, CustomStringConvertible {
    /// How many they are; nil if a listing was read again, whose records count twice.
    let count: Int?

    var description: String {
        switch count {
        case nil: "none of the records could be imported"
        case 1: "the only record could not be imported"
        case let count?: "none of the \(count) records could be imported"
        }
    }
}
