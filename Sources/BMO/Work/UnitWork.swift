internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

/// Works on one claimed unit.
struct UnitWork: Sendable {
    let unit: WorkUnit
    let context: SyncContext
    let shared: any WorkStore

    private var workspace: Workspace { context.workspace }

    /// The minimum number of parents in a range: with so many, the round trips of a claim hardly matter.
    private static let rangeSize = 32
    /// The result of a unit that does not scan.
    private static let nothing = "{}"
    /// The maximum number of ranges in a scan.
    private static let rangeCount = 1024

    /// Does the work and ends the unit.
    ///
    /// - Returns: The result of a scan; nil for a unit that does not scan.
    /// - Throws: `StoreError`, with the code `superseded` if another worker has taken over the unit; `CancellationError`
    ///   if the task was cancelled, so that the caller gives the unit back.
    func run() async throws -> UnitResult? {
        if unit.isGivenUp { return try await giveUp() }
        switch unit.task {
        case .close:
            try await close()
            return nil
        case .split:
            try await split()
            return nil
        case .listing, .range, .end:
            let result = try await scan()
            if case .interrupted = result.report.outcome { throw CancellationError() }
            let text = result.json(workspace.model)
            let entity = unit.task == .range && unit.source.isEmpty ? workspace.model.index(of: unit.entity) : nil
            try await context.thread.run { [shared] in try shared.endUnit(text, keeping: entity, adding: []) }
            return result
        }
    }

    /// Ends a unit as failed, because too many workers have ended while they worked on it.
    private func giveUp() async throws -> UnitResult? {
        guard unit.task != .close else {
            try await context.thread.run { [shared] in try shared.endUnit(Self.nothing, keeping: nil, adding: []) }
            return nil
        }
        let target = try target()
        let bridge = target.source?.bridge ?? target.entity.bridge
        let failure = SyncFailure(
            entity: unit.entity, bridge: bridge, page: nil, code: "crashed",
            message: "\(WorkUnit.mostLosses) workers ended, or lost their lease, while they worked on \(unit.name)",
            remedy: "see how they ended (memory, logs); the next round tries again", location: nil, remote: nil)
        let report = SyncReport.Entity(
            name: unit.entity, bridge: bridge, outcome: .failed(failure), pages: 0, resumedAfterPage: nil,
            counts: ImportCounts.Entity(), warnings: [], duration: .zero)
        let result = UnitResult(
            report: report, counts: ImportCounts(entityCount: workspace.model.entities.count), listing: nil)
        let text = result.json(workspace.model)
        try await context.thread.run { [shared] in try shared.endUnit(text, keeping: nil, adding: []) }
        return result
    }

    private func target() throws -> (entity: Entity, index: Int, source: EntitySource?) {
        guard let entity = workspace.model.model.entity(named: unit.entity),
            let index = workspace.model.index(of: unit.entity),
            unit.source.isEmpty || entity.source(named: unit.source) != nil
        else {
            throw StoreError(
                .request, "the configuration has no scan \(unit.group)",
                remedy: "give all workers the same configuration")
        }
        return (entity, index, entity.source(named: unit.source))
    }

    // MARK: - Scans

    private func scan() async throws -> UnitResult {
        let target = try target()
        let part: EntityScan.Part
        switch unit.task {
        case .range: part = .range(target.source, after: unit.after, through: unit.through)
        case .end: part = .end(target.source, try await gather(target.entity, target.index, target.source))
        case .listing, .split, .close: part = .source(target.source)
        }
        let scan = EntityScan(context: context, entity: target.entity, index: target.index, part: part)
        let result = await scan.run()
        return UnitResult(report: result.entity, counts: result.counts, listing: result.listing)
    }

    /// Returns what all ranges together covered, and combines in the store what they found missing.
    private func gather(_ entity: Entity, _ index: Int, _ source: EntitySource?) async throws -> ScanListing {
        let layout = workspace.model.entities[index]
        let parent = source == nil ? entity.parent : source?.parent
        let relationship = parent?.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        let results = try await context.thread.run { [shared, unit] in
            if unit.source.isEmpty {
                try shared.gatherParents(of: index, relationship: relationship, group: unit.group)
            }
            // A division has no result unless it was given up.
            return try shared.results(of: unit.group)
                .filter { $0.unit.task == .range || $0.unit.task == .split && $0.result != Self.nothing }
                .map(\.result)
        }
        var all = ScanListing(isWhole: true, began: Clock.now())
        for result in results {
            guard let listing = UnitResult(json: result, workspace.model)?.listing else {
                all.isWhole = false
                continue
            }
            all.merge(listing)
        }
        return all
    }

    // MARK: - Other units

    private func split() async throws {
        let target = try target()
        let layout = workspace.model.entities[target.index]
        guard let parent = target.source == nil ? target.entity.parent : target.source?.parent else { return }
        let relationship = parent.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        let entity = relationship.map { layout.toOne[$0].target } ?? target.index
        let rows = ParentRows(
            parent, [], of: layout, target: workspace.model.entities[entity], relationship: relationship)
        try await context.thread.run { [shared, unit] in
            let bounds = try shared.parentBounds(
                of: entity, where: rows.conditions, size: Self.rangeSize, atMost: Self.rangeCount)
            // If the parents are objects of the same entity, the scan may add some; those wait for the next round.
            let isOpen = relationship != nil
            try shared.endUnit(Self.nothing, keeping: nil, adding: Self.ranges(of: unit, bounds, isOpen: isOpen))
        }
    }

    /// Returns the ranges that end with these rows.
    ///
    /// - Parameter isOpen: Whether the last range includes parents that are added later.
    static func ranges(of unit: WorkUnit, _ bounds: [Int64], isOpen: Bool) -> [WorkUnit] {
        bounds.indices.map { place in
            var range = WorkUnit(
                name: "\(unit.group) \(place + 1)/\(bounds.count)", group: unit.group, entity: unit.entity,
                source: unit.source, task: .range)
            range.after = place == 0 ? .min : bounds[place - 1]
            range.through = place == bounds.count - 1 && isOpen ? .max : bounds[place]
            return range
        }
    }

    private func close() async throws {
        let history = workspace.configuration.history
        try await context.thread.run { [workspace, shared, context] in
            var report = try workspace.roundReport(in: shared)
            report.run = try context.store.endRun(
                outcome: report.outcomeWord, summary: report.json, always: report.hasNews, keeping: history)
            try shared.endUnit(Self.nothing, keeping: nil, adding: [])
        }
    }
}

extension Workspace {
    /// Returns the report of a round: the sums over its ended units, with the durations of all workers added up.
    func roundReport(in store: any WorkStore) throws -> SyncReport {
        var entities: [String: SyncReport.Entity] = [:]
        var counts = ImportCounts(entityCount: model.entities.count)
        for (unit, text) in try store.results(of: nil) {
            guard let result = UnitResult(json: text, model) else { continue }
            counts += result.counts
            if entities[unit.entity] == nil {
                entities[unit.entity] = result.report
            } else {
                entities[unit.entity]?.add(result.report)
            }
        }
        let duration = entities.values.reduce(Duration.zero) { $0 + $1.duration }
        return makeReport(entities, counts, duration)
    }
}
