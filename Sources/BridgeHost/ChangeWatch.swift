internal import RecordBatch
internal import Synchronization

/// A remote that says when something moves; ``BridgeConnection/watch(_:)`` makes one.
///
/// A hint: it does not say what moved, some changes may not be told at all, and some are of no interest. Fetch to see, and fetch
/// from time to time in any case. What moves while nobody waits counts for the next wait, so open the watch before the
/// fetch that it follows:
///
/// ```swift
/// let watch = try await connection.watch(request)   // code unsupported: ask from time to time
/// while true {
///     await sync()
///     _ = try await watch.change(within: .seconds(300))
/// }
/// ```
///
/// One task at a time calls ``change(within:)``; ``close()`` may come from any.
public final class ChangeWatch: Sendable {
    /// The only fetch of the watch's session.
    private static let fetch: UInt32 = 1

    private struct State {
        /// The call that waits in the bridge.
        var pending: Promise<BridgeReply>?
        /// Wakes who waits here.
        var waiter: Promise<BridgeReply?>?
        var failure: BridgeFailure?
    }

    private let session: any BridgeSession
    private let request: RecordBatch
    private let limits: BridgeLimits
    private let log: BridgeLog
    private let state = Mutex(State())

    private init(_ session: any BridgeSession, request: RecordBatch, limits: BridgeLimits, log: BridgeLog) {
        self.session = session
        self.request = request
        self.limits = limits
        self.log = log
    }

    deinit { end(.cancelled(log.bridge)) }

    /// A watch in a session of its own: a bridge may not be able to do anything else meanwhile.
    static func open(
        _ request: FetchRequest, opener: SessionOpener, limits: BridgeLimits, log: BridgeLog
    ) async throws(BridgeFailure) -> ChangeWatch {
        var request = request
        request.wait = min(.seconds(60), limits.call / 2)
        let batch: RecordBatch
        do {
            batch = try request.batch(cursor: nil)
        } catch {
            throw BridgeFailure(.internal, "the request for \(request.entity): \(error)", bridge: log.bridge)
        }
        let watch = ChangeWatch(try await opener.open(), request: batch, limits: limits, log: log)
        try await watch.begin()
        return watch
    }

    /// Waits until something moves, at most so long.
    ///
    /// - Returns: Whether something moved since the watch was opened or since this returned true last.
    /// - Throws: ``BridgeFailure``; then the watch is over. When the task is cancelled: ``BridgeFailure/Code/cancelled``, at once.
    public func change(within timeout: Duration) async throws(BridgeFailure) -> Bool {
        let deadline = ContinuousClock.now + timeout
        while true {
            let call = try pending()
            guard let reply = try await wait(for: call, until: deadline) else { return false }
            state.withLock { $0.pending = nil }
            let page: PageInfo
            do {
                page = try decode(reply)
            } catch {
                throw end(error)
            }
            // The bridge goes on looking while the caller fetches.
            if page.end {
                // The number is free once the fetch is closed.
                _ = await timed(session.submit(.fetchClose(Self.fetch))).value
                try await begin()
            } else {
                _ = try pending()
            }
            if !page.unchanged { return true }
        }
    }

    /// Ends the watch; a ``change(within:)`` that waits throws ``BridgeFailure/Code/cancelled``.
    ///
    /// Safe to call twice.
    public func close() async {
        end(.cancelled(log.bridge))
        await session.close(grace: limits.cancellationGrace)
    }

    /// Has the bridge begin to look.
    private func begin() async throws(BridgeFailure) {
        let opening = timed(session.submit(.fetchOpen(Self.fetch, request)))
        let reply = try await wait(for: opening, until: nil)
        switch reply {
        case .lost(let failure): throw end(failure)
        case .failed(let error):
            throw end(.decode(error, doing: "fetch_open", log: log, limit: limits.pageSize))
        case .done, nil: _ = try pending()
        }
    }

    /// The call that waits in the bridge; a new one where there is none.
    private func pending() throws(BridgeFailure) -> Promise<BridgeReply> {
        let (known, failure) = state.withLock { ($0.pending, $0.failure) }
        if let failure { throw failure }
        if let known { return known }
        let call = timed(session.submit(.fetchNext(Self.fetch)))
        state.withLock { $0.pending = call }
        return call
    }

    /// A bridge that does not come back from its wait is ended.
    private func timed(_ call: Promise<BridgeReply>) -> Promise<BridgeReply> {
        let late = BridgeFailure(
            .timeout, "the bridge did not answer within \(limits.call.components.seconds) s", bridge: log.bridge)
        let timer = call.fulfil(after: limits.call, with: .lost(late)) { [session] in session.kill() }
        Task {
            _ = await call.value
            timer.cancel()
        }
        return call
    }

    /// The call's reply; nil when the time is over, and the call still waits.
    private func wait(
        for call: Promise<BridgeReply>, until deadline: ContinuousClock.Instant?
    ) async throws(BridgeFailure) -> BridgeReply? {
        let waiter = Promise<BridgeReply?>()
        let failure = state.withLock { state in
            state.waiter = waiter
            return state.failure
        }
        if let failure { throw failure }
        Task { waiter.fulfil(await call.value) }
        let timer = deadline.map { waiter.fulfil(after: max($0 - ContinuousClock.now, .zero), with: nil) }
        let reply = await withTaskCancellationHandler {
            await waiter.value
        } onCancel: { [self] in
            end(.cancelled(log.bridge))
        }
        timer?.cancel()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        return reply
    }

    private func decode(_ reply: BridgeReply) throws(BridgeFailure) -> PageInfo {
        switch reply {
        case .lost(let failure): throw failure
        case .failed(let error): throw .decode(error, doing: "fetch_next", log: log, limit: limits.pageSize)
        case .done(let records, let page):
            guard try RecordBatch.checked(records, what: "fetch_next", limits: limits, log: log) == nil else {
                throw .malformed("the bridge answered a watch with records", log)
            }
            do {
                return try PageInfo.decode(page, log: log, limit: limits.pageSize)
            } catch {
                throw .malformed("the bridge answered fetch_next with \(error.reason)", log)
            }
        }
    }

    /// Ends the session, once, for this reason; gives the reason that counts.
    @discardableResult
    private func end(_ failure: BridgeFailure) -> BridgeFailure {
        let (first, waiter, isFirst) = state.withLock { state in
            let isFirst = state.failure == nil
            state.failure = state.failure ?? failure
            return (state.failure ?? failure, state.waiter, isFirst)
        }
        waiter?.fulfil(nil)
        if isFirst {
            session.cancel(fetch: Self.fetch)
            Task { [session, limits] in await session.close(grace: limits.cancellationGrace) }
        }
        return first
    }
}
