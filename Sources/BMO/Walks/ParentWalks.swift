internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import Synchronization

/// The walks of an entity by the objects of its parent: one for each, several at a time.
struct ParentWalks {
    let plan: WalkPlan
    let walk: ParentWalk
    let context: SyncContext
    let tally: EntityTally

    /// How many parents are read from the database at a time.
    static let chunk = 256
    /// The number of consecutive failures with the same code after which the rest is skipped.
    private static let mostFailuresInARow = 10
    /// The limit of failures that are reported individually.
    private static let mostFailuresTold = 10

    private enum Ending: Sendable {
        case done(ScopeWalk.Result)
        case failed(SyncReport.Parents.Failure)
        case interrupted
    }

    /// Walks all parents; a failed walk does not affect the others.
    ///
    /// - Returns: The combined listing, and the result of the final sweep.
    /// - Throws: When the parents cannot be read, some of the walks failed, or the task was cancelled.
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
        if queue.isCut {
            listing.isWhole = false
            tally.warn(
                "a tree is walked \(ParentQueue.mostLevels) levels deep in one sync, and there is more below, which the "
                    + "next sync asks for: does every \(plan.entity.name) hold a new one?")
        }
        warnOfNoTop(queue)
        // Objects missing from the successful walks are deleted even if other walks failed.
        let sweep = sweeps ? try await finish() : SweepResult()
        tally.add(sweep)
        for words in RepeatedKeyWords(plan, context.workspace.model).warnings(of: sweep) { tally.warn(words) }
        try await throwIfClosed()
        try throwFailures(isGivenUp: streak.count >= Self.mostFailuresInARow)
        return (listing, sweep)
    }

    /// Warns of a tree without a top, for which no request fails.
    private func warnOfNoTop(_ queue: ParentQueue) {
        guard queue.level == 0, !context.isPartial, plan.isListing,
            context.workspace.model.model.lacksTop(plan.entity)
        else { return }
        tally.warn(
            "there is no \(plan.entity.name) to begin with, and it is walked by its own objects (\"parent: "
                + "\(walk.relationship ?? "")\"): add a source without \"parent\" that brings the top")
    }

    /// Fails for a bridge that could not be opened, which walks without any parents would not notice.
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
        // Only the parent's own listing determines that it is deleted; its children are deleted with it.
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
}
