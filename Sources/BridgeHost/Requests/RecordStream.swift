internal import Logging
internal import RecordBatch
internal import SystemCalls

/// A scan of an entity's records, batch by batch.
///
/// While the caller works on a batch, the bridge prepares the next one and no more. The stream itself retries a
/// retryable failure between two pages, from the last page's cursor. It cannot hide a failure inside a page: ``next()``
/// throws it with ``BridgeFailure/breaksPage`` set, and the caller rolls back the open page and calls ``reopen()``.
///
/// ```swift
/// while let batch = try await stream.next() { ... }
/// await stream.close()
/// ```
///
/// Only one task at a time may call ``next()`` and ``reopen()``; any task may call ``cancel()`` and ``close()``.
public final class RecordStream: Sendable {
    private struct State {
        var lease: SessionPool.Lease?
        /// The running call, in which the bridge opens the fetch or prepares the next batch.
        var pending: Promise<BridgeReply>?
        var isOpen = false
        /// The cursor from which a new fetch would continue.
        var cursor: String?
        var canReopen = true
        /// Whether part of a page was delivered, but not its end.
        var pageIsOpen = false
        var failures = 0
        /// The number of replies to this fetch's calls, including that of its opening.
        var replies = 0
        var clock = RetryClock()
        /// The start of the outstanding call.
        var callBegan = ContinuousClock.now
        /// The pause before `reopen`, set by a failure that broke a page.
        var pause: Duration?
        var sleep: Promise<Void>?
        var emptyAnswers = 0
        var repeats = RepeatGuard()
        var isEnded = false
        var isCancelled = false
        var failure: BridgeFailure?
    }

    private let request: FetchRequest
    private let pool: SessionPool
    private let limits: BridgeLimits
    private let log: BridgeLog
    private let canResume: Bool
    private let state: Mutex<State>
    private let made = ContinuousClock.now

    init(_ request: FetchRequest, pool: SessionPool, limits: BridgeLimits, log: BridgeLog, canResume: Bool) {
        self.request = request
        self.pool = pool
        self.limits = limits
        self.log = log
        self.canResume = canResume
        state = Mutex(State(cursor: request.cursor))
    }

    deinit {
        let (lease, pending) = state.withLock { ($0.lease, $0.pending) }
        guard let lease else { return }
        Task { [pool, limits, log] in await Self.settle(lease, pending, pool, limits, log) }
    }

    /// Returns the next batch, or nil after the last.
    ///
    /// - Throws: ``BridgeFailure``; unless it has ``BridgeFailure/breaksPage`` set, the stream has ended.
    ///   `BridgeFailure.Code.cancelled`, within half a second, when the task is cancelled.
    public func next() async throws(BridgeFailure) -> FetchedBatch? {
        while true {
            if try isOver() { return nil }
            do {
                let (lease, promise) = try await outstanding()
                return try accept(try await answer(promise, lease), lease)
            } catch {
                try await recover(from: error)
            }
        }
    }

    /// Reopens the fetch after a failure that broke a page, continuing after the last complete page.
    ///
    /// Waits as the retry policy demands. Does nothing in other states.
    public func reopen() async throws(BridgeFailure) {
        let pause = state.withLock { state -> Duration? in
            defer { state.pause = nil }
            if state.pause != nil { state.pageIsOpen = false }
            return state.pause
        }
        if let pause { try await sleep(pause) }
    }

    /// Stops the fetch without blocking; a waiting ``next()`` throws `BridgeFailure.Code.cancelled`.
    public func cancel() {
        let (lease, pending, sleep) = state.withLock { state in
            defer { state.isCancelled = true }
            return state.isCancelled ? (nil, nil, nil) : (state.lease, state.pending, state.sleep)
        }
        sleep?.fulfil(())
        guard let lease, let pending, !pending.isFulfilled else { return }
        lease.session.cancel(fetch: lease.fetch)
        let bridge = log.bridge
        _ = pending.fulfil(after: limits.cancellationGrace, with: .lost(.cancelled(bridge))) { [pool] in
            pool.abandon(lease)
        }
    }

    /// Ends the fetch in any state and frees its place for another.
    ///
    /// Safe to call twice.
    public func close() async {
        state.withLock { $0.isCancelled = true }
        await giveBack()
    }

    // MARK: Opening

    /// Opens the fetch, with retries.
    func start() async throws(BridgeFailure) {
        while true {
            do {
                try await open()
                return
            } catch {
                try await recover(from: error)
            }
        }
    }

    private func isOver() throws(BridgeFailure) -> Bool {
        let (isEnded, failure) = state.withLock { state -> (Bool, BridgeFailure?) in
            if let failure = state.failure { return (false, failure) }
            if state.isEnded { return (true, nil) }
            if state.isCancelled { return (false, .cancelled(log.bridge)) }
            guard state.pause == nil else {
                return (false, BridgeFailure(.internal, "next() before reopen()", bridge: log.bridge))
            }
            return (false, nil)
        }
        if let failure { throw failure }
        return isEnded
    }

    /// Returns the call whose reply is next, after opening the fetch if necessary.
    private func outstanding() async throws(BridgeFailure) -> (SessionPool.Lease, Promise<BridgeReply>) {
        if !state.withLock({ $0.isOpen }) { try await open() }
        let found = state.withLock { state -> (SessionPool.Lease, Promise<BridgeReply>)? in
            guard let lease = state.lease else { return nil }
            let promise = state.pending ?? lease.session.submit(.fetchNext(lease.fetch))
            state.pending = promise
            return (lease, promise)
        }
        guard let found else { throw .cancelled(log.bridge) }
        return found
    }

    private func open() async throws(BridgeFailure) {
        let batch: RecordBatch
        do {
            batch = try request.batch(cursor: state.withLock { $0.cursor })
        } catch {
            throw BridgeFailure(.internal, "the request for \(request.entity): \(error)", bridge: log.bridge)
        }
        let lease = try await pool.lease(priority: request.priority)
        let promise = state.withLock { state -> Promise<BridgeReply>? in
            guard !state.isCancelled else { return nil }
            let promise = lease.session.submit(.fetchOpen(lease.fetch, batch))
            state.lease = lease
            state.pending = promise
            return promise
        }
        guard let promise else {
            pool.release(lease)
            throw .cancelled(log.bridge)
        }
        switch try await answer(promise, lease) {
        case .lost(let failure): throw failure
        case .failed(let error): throw .decode(error, doing: "fetch_open", log: log, limit: limits.pageSize)
        case .done:
            state.withLock { state in
                guard state.lease != nil else { return }
                state.isOpen = true
                state.repeats = RepeatGuard()
                state.pending = request.prefetches ? lease.session.submit(.fetchNext(lease.fetch)) : nil
            }
        }
    }

    private func answer(
        _ promise: Promise<BridgeReply>, _ lease: SessionPool.Lease
    ) async throws(BridgeFailure) -> BridgeReply {
        let timer = promise.fulfil(after: limits.call, with: .lost(self.late)) { [pool] in
            pool.abandon(lease)
        }
        state.withLock { state in
            state.callBegan = .now
            state.replies += 1
        }
        let reply = await withTaskCancellationHandler {
            await promise.value
        } onCancel: {
            cancel()
        }
        timer.cancel()
        if state.withLock({ $0.isCancelled }) { throw .cancelled(log.bridge) }
        return reply
    }

    /// The failure of a call that takes too long.
    private var late: BridgeFailure {
        BridgeFailure(
            .timeout, "the bridge did not answer within \(limits.call.components.seconds) s (\(request.entity))",
            bridge: log.bridge)
    }

    // MARK: Replies

    private func accept(_ reply: BridgeReply, _ lease: SessionPool.Lease) throws(BridgeFailure) -> FetchedBatch {
        switch reply {
        case .lost(let failure): throw failure
        case .failed(let error): throw .decode(error, doing: "fetch_next", log: log, limit: limits.pageSize)
        case .done(let records, let page):
            let batch = try RecordBatch.checked(records, what: "fetch_next", limits: limits, log: log)
            var info: PageInfo
            do {
                info = try PageInfo.decode(page, log: log, limit: limits.pageSize)
            } catch {
                throw .malformed("the bridge answered fetch_next with \(error.reason)", log)
            }
            info.pageEnd = info.pageEnd || info.end
            defer { withExtendedLifetime(records) {} }
            if let bytes = records?.bytes, state.withLock({ $0.repeats.isEndless(after: bytes) }) {
                throw .malformed(
                    "the last \(RepeatGuard.most) batches had all occurred before in this scan of \(request.entity): it has no end",
                    log)
            }
            if info.endsListing, state.withLock({ $0.repeats.isEndlessAfterListing() }) {
                throw .malformed(
                    "this scan of \(request.entity) has more than \(RepeatGuard.mostListings) listings: it has no end",
                    log)
            }
            log.logger.debug(
                "bridge answered",
                metadata: [
                    "entity": "\(request.entity)", "request": .stringConvertible(state.withLock { $0.replies }),
                    "records": .stringConvertible(batch?.count ?? 0),
                ])
            try advance(info, hasRecords: batch != nil, lease)
            return FetchedBatch(records: batch, page: info)
        }
    }

    /// Records the delivered page and makes the bridge prepare the next batch.
    private func advance(_ page: PageInfo, hasRecords: Bool, _ lease: SessionPool.Lease) throws(BridgeFailure) {
        let (isStuck, isDone) = state.withLock { state -> (Bool, Bool) in
            state.pending = nil
            state.emptyAnswers = hasRecords || page.pageEnd || !page.rejected.isEmpty ? 0 : state.emptyAnswers + 1
            if state.emptyAnswers > 1000 { return (true, false) }
            if page.pageEnd {
                state.pageIsOpen = false
                state.canReopen = canResume && page.cursor != nil
                if let cursor = page.cursor, canResume, cursor != state.cursor {
                    state.cursor = cursor
                    // Only progress resets the retry limits.
                    state.failures = 0
                    state.clock.reset()
                }
            } else if hasRecords || !page.rejected.isEmpty {
                state.pageIsOpen = true
            }
            if page.end {
                state.isEnded = true
                state.isOpen = false
                defer { state.lease = nil }
                return (false, state.lease != nil)
            }
            if state.lease != nil, !state.isCancelled, request.prefetches {
                state.pending = lease.session.submit(.fetchNext(lease.fetch))
            }
            return (false, false)
        }
        if isStuck { throw .malformed("the bridge answered fetch_next 1,000 times with nothing", log) }
        if isDone { Self.end(lease, pool) }
    }

    // MARK: Failures

    /// Returns when the step should be retried; throws failures that the caller must handle.
    private func recover(from failure: BridgeFailure) async throws(BridgeFailure) {
        await giveBack()
        let (delay, isOutOfTime) = state.withLock { state -> (Duration?, Bool) in
            if state.isCancelled { return (nil, false) }
            state.failures += 1
            var delay =
                state.canReopen
                ? limits.retries.delay(
                    afterFailures: state.failures, of: failure, random: Double.random(in: 0..<1)) : nil
            let isOutOfTime = delay.map { isLate($0, after: failure, &state) } ?? false
            if isOutOfTime { delay = nil }
            if delay == nil { state.failure = failure }
            if state.pageIsOpen { state.pause = delay }
            return (delay, isOutOfTime)
        }
        if state.withLock({ $0.isCancelled }) { throw .cancelled(log.bridge) }
        guard let delay else {
            let told = limits.retries.told(
                failure, tries: state.withLock { $0.failures }, isOutOfTime: isOutOfTime)
            state.withLock { $0.failure = told }
            throw told
        }
        log.logger.info(
            "fetch is tried again",
            metadata: [
                "entity": "\(request.entity)", "request": .stringConvertible(state.withLock { $0.replies }),
                "after": "\(delay)", "failure": "\(failure.description)",
            ])
        if failure.code == .rateLimited, !limits.retries.passesAtOnce { log.meter.add(pause: delay) }
        guard !state.withLock({ $0.pause != nil }) else {
            var broken = failure
            broken.breaksPage = true
            throw broken
        }
        try await sleep(delay)
    }

    /// Returns whether a retry after this pause would exceed the time limit for all tries.
    private func isLate(_ pause: Duration, after failure: BridgeFailure, _ state: inout State) -> Bool {
        guard !limits.retries.passesAtOnce else { return false }
        let now = ContinuousClock.now
        return state.clock.isOver(
            now: now - made, lastTry: now - state.callBegan, pause: pause, after: failure,
            patience: limits.retries.patience)
    }

    private func sleep(_ pause: Duration) async throws(BridgeFailure) {
        let pause = limits.retries.passesAtOnce ? .zero : pause
        let promise = Promise<Void>()
        state.withLock { $0.sleep = promise }
        let timer = promise.fulfil(after: pause, with: ())
        if state.withLock({ $0.isCancelled }) { promise.fulfil(()) }
        await withTaskCancellationHandler {
            await promise.value
        } onCancel: {
            cancel()
        }
        timer.cancel()
        if state.withLock({ $0.isCancelled }) { throw .cancelled(log.bridge) }
    }

    private func giveBack() async {
        let (lease, pending) = state.withLock { state in
            defer {
                state.lease = nil
                state.pending = nil
                state.isOpen = false
            }
            return (state.lease, state.pending)
        }
        if let lease { await Self.settle(lease, pending, pool, limits, log) }
    }

    /// Ends a fetch whose last call may still be running.
    private static func settle(
        _ lease: SessionPool.Lease, _ pending: Promise<BridgeReply>?, _ pool: SessionPool, _ limits: BridgeLimits,
        _ log: BridgeLog
    ) async {
        if let pending, !pending.isFulfilled {
            lease.session.cancel(fetch: lease.fetch)
            let timer = pending.fulfil(after: limits.cancellationGrace, with: .lost(.cancelled(log.bridge))) {
                pool.abandon(lease)
            }
            _ = await pending.value
            timer.cancel()
        }
        end(lease, pool)
    }

    private static func end(_ lease: SessionPool.Lease, _ pool: SessionPool) {
        _ = lease.session.submit(.fetchClose(lease.fetch))
        pool.release(lease)
    }
}
