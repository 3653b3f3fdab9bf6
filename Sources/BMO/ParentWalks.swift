internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import SQLiteStore
internal import Synchronization

/// The walks of an entity by the objects of its parent: one each, several at a time.
struct ParentWalks {
    let plan: WalkPlan
    let walk: ParentWalk
    let context: SyncContext
    let tally: EntityTally

    /// So many parents are read from the database in one go.
    private static let chunk = 256
    /// After so many failures in a row with the same code, the others are not tried.
    private static let mostFailuresInARow = 10
    /// So many failures are told one by one.
    private static let mostFailuresTold = 10

    private enum Ending: Sendable {
        case done(ScopeWalk.Result)
        case failed(SyncReport.Parents.Failure)
        case interrupted
    }

    /// Walks all parents; one that fails leaves the others alone.
    ///
    /// - Returns: What all walks listed together, and what was deleted in the end.
    /// - Throws: When the parents cannot be read, some of them failed, or the task was cancelled.
    func run() async throws -> (listing: WalkListing, sweep: SweepResult) {
        tally.parents { _ in }
        tally.began(afterPage: nil)
        let sweeps = plan.isListing && !context.isPartial
        if sweeps {
            try await context.thread.run { [context, plan] in try context.store.beginParents(of: plan.index) }
        }
        var queue = try ParentQueue(self)
        var streak: (code: String, count: Int) = ("", 0)
        var listing = WalkListing(isWhole: true, began: Clock.now())
        try await withThrowingTaskGroup(of: Ending.self) { group in
            var running = 0
            while true {
                while running < (context.workspace.session == nil ? walk.concurrency : 1),
                    streak.count < Self.mostFailuresInARow, !Task.isCancelled,
                    let parent = try await queue.next()
                {
                    group.addTask { await ending(of: parent) }
                    running += 1
                }
                guard let ending = try await group.next() else {
                    guard streak.count < Self.mostFailuresInARow, !Task.isCancelled, queue.beginAnew() else { break }
                    continue
                }
                running -= 1
                switch ending {
                case .interrupted: listing.isWhole = false
                case .done(let result):
                    streak = ("", 0)
                    listing.merge(result.listing)
                    tally.parents { parents in
                        parents.walked += 1
                        if result.isUnchanged { parents.unchanged += 1 }
                    }
                case .failed(let failure):
                    listing.isWhole = false
                    streak = (failure.code, failure.code == streak.code ? streak.count + 1 : 1)
                    note(failure)
                }
            }
        }
        try Task.checkCancellation()
        // What the walks of those that did not fail lacked is gone all the same.
        let sweep = sweeps ? try await finish() : SweepResult()
        tally.add(sweep)
        for words in RepeatedKeyWords(plan, context.workspace.model).warnings(of: sweep) { tally.warn(words) }
        try await throwIfClosed()
        try throwFailures(isGivenUp: streak.count >= Self.mostFailuresInARow)
        return (listing, sweep)
    }

    /// Without parents nobody was asked: a bridge that could not be opened for others is a failure here too.
    private func throwIfClosed() async throws {
        let parents = tally.result.parents ?? SyncReport.Parents()
        guard parents.walked + parents.failed + parents.missing == 0 else { return }
        try await context.connections.throwIfFailed(plan.bridge)
    }

    private func ending(of parent: ParentObject) async -> Ending {
        let place = ScopeWalk.Place()
        do {
            return .done(
                try await ScopeWalk(plan: plan, context: context, parent: parent, tally: tally).run(at: place))
        } catch {
            if Task.isCancelled || error is CancellationError { return .interrupted }
            if let failure = error as? BridgeFailure, failure.code == .cancelled { return .interrupted }
            let failure = SyncFailure(error, entity: plan.entity, bridge: plan.bridge, page: place.page)
            return .failed(SyncReport.Parents.Failure(parent: parent.text, code: failure.code, failure: failure))
        }
    }

    private func note(_ failure: SyncReport.Parents.Failure) {
        guard failure.code == BridgeFailure.Code.notFound.rawValue else {
            tally.parents { parents in
                parents.failed += 1
                if parents.failures.count < Self.mostFailuresTold { parents.failures.append(failure) }
            }
            return
        }
        // Only the parent's own listing tells that it is gone: then its children go with it.
        tally.parents { $0.missing += 1 }
        tally.warn("\(failure.parent): the remote has nothing there (\(failure.failure.message)); its objects stay")
    }

    private func finish() async throws -> SweepResult {
        let rule = SweepRule(
            brake: context.options.allowsDeletes ? nil : plan.policy.brake, origin: plan.origin)
        let result = Mutex(SweepResult())
        try await context.gate.pass {
            try await context.thread.run { [context, plan] in
                let transaction = try context.store.beginPage()
                do {
                    try transaction.access {
                        try transaction.setSource(
                            PageSource(bridge: plan.bridge, walk: plan.entity.name, location: nil))
                        let swept = try transaction.finishParents(of: plan.index, rule)
                        result.withLock { $0 = swept }
                    }
                    try transaction.commit()
                } catch {
                    transaction.rollback()
                    throw error
                }
            }
        }
        return result.withLock { $0 }
    }

    private func throwFailures(isGivenUp: Bool) throws {
        let parents = tally.result.parents ?? SyncReport.Parents()
        guard parents.failed > 0 || isGivenUp else { return }
        let first = parents.failures.first?.failure
        var words = "\(parents.failed) of \(parents.walked + parents.failed + parents.missing) parents failed"
        if let failure = parents.failures.first {
            words += "; the first is \(failure.parent): \(failure.failure.message)"
        }
        if isGivenUp { words += "; after \(Self.mostFailuresInARow) in a row the others were not tried" }
        throw SyncFailure(
            entity: plan.entity.name, bridge: plan.bridge, page: first?.page, code: first?.code ?? "not_found",
            message: words, remedy: first?.remedy, location: first?.location, remote: first?.remote)
    }

    /// The parents, read as they are needed.
    private struct ParentQueue {
        private let walks: ParentWalks
        private let entity: Int
        private let relationship: Int?
        private let conditions: [SQLiteStore.Condition]
        private var waiting: ArraySlice<SQLiteStore.ParentRow> = []
        private var last = Int64.min
        private var isAtEnd = false
        /// The walks bring objects that are parents themselves: the folders in a folder.
        private let isTree: Bool
        /// The parents of a tree that had their turn; it may hold a circle.
        private var walked: Set<String> = []
        private var hasNew = false

        init(_ walks: ParentWalks) throws {
            self.walks = walks
            let layout = walks.context.workspace.model.entities[walks.plan.index]
            relationship = walks.walk.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
            entity = relationship.map { layout.toOne[$0].target } ?? walks.plan.index
            isTree = relationship != nil && walks.context.workspace.model.family(of: entity).contains(walks.plan.index)
            conditions = try ParentRows(
                walks.walk, walks.context.options.conditions, of: layout,
                target: walks.context.workspace.model.entities[entity], relationship: relationship
            ).conditions
        }

        mutating func next() async throws -> ParentObject? {
            let layout = walks.context.workspace.model.entities[entity]
            while true {
                if let row = waiting.popFirst() {
                    // A stub: nobody has described it.
                    if row.values.isEmpty { continue }
                    let parent = try ParentObject(row.values, layout, relationship: relationship)
                    if isTree, !walked.insert(parent.text).inserted { continue }
                    hasNew = true
                    return parent
                }
                guard !isAtEnd else { return nil }
                let rows = try await walks.context.thread.run {
                    [context = walks.context, entity, conditions, last] in
                    try context.store.parents(of: entity, where: conditions, after: last, limit: ParentWalks.chunk)
                }
                isAtEnd = rows.count < ParentWalks.chunk
                last = rows.last?.row ?? last
                waiting = rows[...]
            }
        }

        /// Reads the parents of a tree once more, among which there may be what the walks have brought.
        ///
        /// - Returns: Whether there can be any.
        mutating func beginAnew() -> Bool {
            guard isTree, hasNew else { return false }
            (hasNew, isAtEnd, last) = (false, false, .min)
            return true
        }
    }
}

/// Which objects of a parent have a walk.
struct ParentRows {
    /// All must hold.
    let conditions: [SQLiteStore.Condition]
    /// The same as they are written.
    let words: [String]

    /// - Parameters:
    ///   - wanted: What the user asks of the children: where that names one parent, the others need not be asked.
    ///   - target: The parent's layout.
    ///   - relationship: The relationship that leads to it, by its index in `layout`; nil where it is the object itself.
    init(
        _ walk: ParentWalk, _ wanted: [LocalCondition], of layout: EntityLayout, target: EntityLayout,
        relationship: Int?
    ) throws {
        var all = walk.conditions
        if let relationship, layout.toOne[relationship].fieldCount == 1, let key = target.key.first {
            let name = layout.fields[layout.toOne[relationship].firstField].name
            all += wanted.filter { $0.field == name && $0.value != nil }.map {
                LocalCondition(field: target.fields[key].name, comparison: $0.comparison, value: $0.value)
            }
        }
        words = all.map(\.text)
        conditions = try all.map { condition in
            guard let comparison = SQLiteStore.Condition.Comparison(rawValue: condition.comparison.rawValue) else {
                throw StoreError(.request, "unknown comparison \(condition.comparison.rawValue)")
            }
            return SQLiteStore.Condition(field: condition.field, comparison: comparison, value: condition.value)
        }
    }
}
