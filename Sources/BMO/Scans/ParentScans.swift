internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

/// The scans of an entity by the objects of its parent: one for each, several at a time.
struct ParentScans {
    let plan: ScanPlan
    let scan: ParentScan
    let context: SyncContext
    let tally: EntityTally
    /// The pages that wait for a transaction.
    private let group = PageGroup()
    /// The shard whose parents are scanned; nil for all parents.
    var shard: SyncShard?

    /// How many parents are read from the database at a time.
    static let chunk = 256
    /// How many scans' starts are read from the database at a time.
    static let starts = 64
    /// The limit of failures that are reported individually.
    private static let maxReportedFailures = 10

    private enum Ending: Sendable {
        case done(ListingScan.Result)
        case failed(SyncReport.Parents.Failure, transaction: Int?)
        case interrupted
    }

    /// What the scan of a parent tells the walk; each has a number.
    private enum Event: Sendable {
        /// All has been received, and waits for its import: the remote can be asked for another parent's.
        case received(Int)
        case ended(Int, Ending)
    }

    /// How many scans may wait for their import, besides those that receive.
    private static let maxWaiting = 256

    /// The outcome of the scans of several parents.
    private struct Walk {
        var listing = ScanListing(isWhole: true, began: Clock.now())
        /// Whether the others were not tried after too many failures in a row.
        var isGivenUp = false
    }

    /// Whether the scans delete rows at their end.
    private var sweeps: Bool { plan.isListing && !context.isPartial }

    /// Scans all parents; a failed scan does not affect the others.
    ///
    /// - Returns: The combined listing, and the result of the final sweep.
    /// - Throws: When the parents cannot be read, some of the scans failed, or the task was cancelled.
    func run() async throws -> (listing: ScanListing, sweep: SweepResult) {
        try await begin()
        var queue = try ParentQueue(self)
        var walk = try await walk(&queue)
        note(queue, &walk)
        try Task.checkCancellation()
        // Other shards may see what this one does not.
        if context.shards != nil { walk.listing.isWhole = false }
        if queue.isCut {
            walk.listing.isWhole = false
            tally.warn(
                "the sync of a tree stopped \(ParentQueue.maxLevels) levels deep; the "
                    + "next sync continues there: does every \(plan.entity.name) contain a new one?")
        }
        warnOfNoTop(queue)
        // Objects missing from the successful scans are deleted even if other scans failed.
        let sweep = try await end()
        try await throwIfClosed()
        try throwFailures(isGivenUp: walk.isGivenUp)
        return (walk.listing, sweep)
    }

    /// Scans the parents after a row, through another one; the store keeps what is missing for ``end()``.
    ///
    /// - Throws: As ``run()``.
    func run(after: Int64, through: Int64) async throws -> ScanListing {
        try await begin()
        var queue = try ParentQueue(self, after: after, through: through)
        var walk = try await walk(&queue)
        note(queue, &walk)
        try Task.checkCancellation()
        try await throwIfClosed()
        try throwFailures(isGivenUp: walk.isGivenUp)
        return walk.listing
    }

    /// Deletes what the scans of all parents lack.
    func end() async throws -> SweepResult {
        let sweep = sweeps ? try await finish() : SweepResult()
        tally.add(sweep)
        if let kept = sweep.kept {
            tally.markIncomplete()
            tally.warn(kept.words)
        }
        for words in DuplicateKeyWarnings(plan, context.workspace.model).warnings(of: sweep) { tally.warn(words) }
        return sweep
    }

    /// Notes the parents that were left out: what was not scanned is not known.
    private func note(_ queue: ParentQueue, _ walk: inout Walk) {
        guard queue.spared > 0 else { return }
        walk.listing.isWhole = false
        tally.parents { $0.spared += queue.spared }
    }

    private func begin() async throws {
        tally.parents { _ in }
        tally.began(afterPage: nil)
        guard sweeps else { return }
        try await context.thread.run { [context, plan] in try context.store.beginParents(of: plan.index) }
    }

    private func walk(_ queue: inout ParentQueue) async throws -> Walk {
        var streak = FailureStreak()
        var walk = Walk()
        // A recording keeps the order of the requests.
        let isRecorded = context.workspace.session != nil
        let (concurrency, waiting) = isRecorded ? (1, 0) : (scan.concurrency, Self.maxWaiting)
        let events = EventQueue<Event>()
        try await withThrowingDiscardingTaskGroup { tasks in
            var number = 0
            var running = 0
            var receiving: Set<Int> = []
            while true {
                while receiving.count < concurrency, running < concurrency + waiting, !streak.isTooLong,
                    !Task.isCancelled, let parent = try await queue.next()
                {
                    number += 1
                    running += 1
                    receiving.insert(number)
                    tasks.addTask { [number] in
                        events.send(.ended(number, await ending(of: parent) { events.send(.received(number)) }))
                    }
                }
                guard running > 0 else {
                    guard !streak.isTooLong, !Task.isCancelled, queue.beginAnew() else { break }
                    continue
                }
                let wasReceived: Bool
                let reached: Ending
                switch await events.next() {
                case .received(let number):
                    receiving.remove(number)
                    streak.noteReceived()
                    continue
                case .ended(let number, let ending):
                    wasReceived = receiving.remove(number) == nil
                    reached = ending
                }
                running -= 1
                switch reached {
                case .interrupted: walk.listing.isWhole = false
                case .done(let result):
                    streak.noteDone()
                    walk.listing.merge(result.listing)
                    tally.parents { parents in
                        parents.scanned += 1
                        if result.isUnchanged { parents.unchanged += 1 }
                    }
                case .failed(let failure, let transaction):
                    walk.listing.isWhole = false
                    streak.noteFailure(failure.code, wasReceived: wasReceived, transaction: transaction)
                    note(failure)
                }
            }
        }
        walk.isGivenUp = streak.isTooLong
        return walk
    }

    /// Warns of a tree without a top, for which no request fails.
    private func warnOfNoTop(_ queue: ParentQueue) {
        guard queue.level == 0, !context.isPartial, plan.isListing,
            context.workspace.model.model.lacksTop(plan.entity)
        else { return }
        tally.warn(
            "there is no \(plan.entity.name) to begin with, and its scans start from its own objects (\"parent: "
                + "\(scan.relationship ?? "")\"): add a source without \"parent\" that lists the top")
    }

    /// Fails for a bridge that could not be opened, which scans without any parents would not notice.
    private func throwIfClosed() async throws {
        let parents = tally.result.parents ?? SyncReport.Parents()
        guard parents.scanned + parents.failed + parents.missing + parents.spared == 0 else { return }
        try await context.connections.throwIfFailed(plan.bridge)
    }

    /// Scans a parent.
    ///
    /// - Parameter received: Called when all was received and waits for its import, if that is before the end.
    private func ending(of parent: ParentObject, received: @escaping @Sendable () -> Void) async -> Ending {
        let place = ListingScan.ProgressTracker()
        do {
            return .done(
                try await ListingScan(
                    plan: plan, context: context, parent: parent, tally: tally,
                    group: PageGroup.Member(group: group, received: received)
                ).run(at: place))
        } catch {
            if Task.isCancelled || error is CancellationError { return .interrupted }
            if let failure = error as? BridgeFailure, failure.code == .cancelled { return .interrupted }
            let shared = error as? PageGroup.TransactionFailure
            let failure = SyncFailure(
                shared?.reason ?? error, entity: plan.entity, bridge: plan.bridge, page: place.page)
            return .failed(
                SyncReport.Parents.Failure(parent: parent.text, code: failure.code, failure: failure),
                transaction: shared?.number)
        }
    }

    private func note(_ failure: SyncReport.Parents.Failure) {
        guard failure.code == BridgeFailure.Code.notFound.rawValue else {
            tally.parents { parents in
                parents.failed += 1
                if parents.failures.count < Self.maxReportedFailures { parents.failures.append(failure) }
            }
            return
        }
        // Only the parent's own listing determines that it is deleted; its children are deleted with it.
        tally.parents { $0.missing += 1 }
        tally.warn("\(failure.parent): the remote has nothing there (\(failure.failure.message)); its objects are kept")
    }

    private func finish() async throws -> SweepResult {
        let rule = context.options.sweep(of: plan)
        let result = Mutex(SweepResult())
        try await context.gate.pass {
            try await context.thread.run { [context, plan] in
                try TransientRetry.usual.run {
                    let transaction = try context.store.beginPage()
                    do {
                        try transaction.access {
                            try transaction.setSource(
                                PageSource(bridge: plan.bridge, scan: plan.entity.name, location: nil))
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
        }
        return result.withLock { $0 }
    }

    private func throwFailures(isGivenUp: Bool) throws {
        let parents = tally.result.parents ?? SyncReport.Parents()
        guard parents.failed > 0 || isGivenUp else { return }
        let first = parents.failures.first?.failure
        var words = "\(parents.failed) of \(parents.scanned + parents.failed + parents.missing) parents failed"
        if let failure = parents.failures.first {
            words += "; the first is \(failure.parent): \(failure.failure.message)"
        }
        if isGivenUp { words += "; after \(FailureStreak.most) in a row the others were not tried" }
        throw SyncFailure(
            entity: plan.entity.name, bridge: plan.bridge, page: first?.page, code: first?.code ?? "not_found",
            message: words, remedy: first?.remedy, location: first?.location, remote: first?.remote)
    }
}
