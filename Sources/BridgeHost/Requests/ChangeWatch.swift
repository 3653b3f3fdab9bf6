internal import RecordBatch
internal import SystemCalls

/// A watch that waits for a remote to report changes; ``BridgeConnection/watch(_:)`` opens one.
///
/// A report is only a hint: it does not say what changed, may be irrelevant, and may be missing. Fetch to see the
/// change, and also fetch from time to time. A change between two waits counts for the next wait, so open the watch
/// before the fetch that it follows:
///
/// ```swift
/// let watch = try await connection.watch(request)   // `unsupported`: poll instead
/// while true {
///     await sync()
///     _ = try await watch.change(within: .seconds(300))
/// }
/// ```
///
/// Only one task at a time may call ``change(within:)``; any task may call ``close()``.
public final class ChangeWatch: Sendable {
    /// The only fetch of the watch's session.
    private static let fetch: UInt32 = 1

    private struct State {
        /// The outstanding call in the bridge.
        var pending: Promise<BridgeReply>?
        /// Wakes the caller waiting in `wait`.
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

    /// Opens a watch in a session of its own: a bridge may be unable to do anything else meanwhile.
    static func open(
        _ request: FetchRequest, opener: SessionOpener, limits: BridgeLimits, log: BridgeLog
    ) async throws(BridgeFailure) -> ChangeWatch {
        var request = request
        request.watchMilliseconds = Int(min(.seconds(60), limits.call / 2) / .milliseconds(1))
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

    /// Waits for a change, at most for `timeout`.
    ///
    /// - Returns: Whether something changed since the watch was opened or since this method last returned true.
    /// - Throws: ``BridgeFailure``, after which the watch is closed; `BridgeFailure.Code.cancelled`, at once, when
    ///   the task is cancelled.
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
            // The bridge keeps watching while the caller fetches.
            if page.end {
                // The fetch number can be reused once the fetch is closed.
                _ = await timed(session.submit(.fetchClose(Self.fetch))).value
                try await begin()
            } else {
                _ = try pending()
            }
            if !page.unchanged { return true }
        }
    }

    /// Ends the watch; a waiting ``change(within:)`` throws `BridgeFailure.Code.cancelled`.
    ///
    /// Safe to call twice.
    public func close() async {
        end(.cancelled(log.bridge))
        await session.close(grace: limits.cancellationGrace)
    }

    /// Makes the bridge start to watch.
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

    /// Returns the outstanding call in the bridge, or starts one.
    private func pending() throws(BridgeFailure) -> Promise<BridgeReply> {
        let (known, failure) = state.withLock { ($0.pending, $0.failure) }
        if let failure { throw failure }
        if let known { return known }
        let call = timed(session.submit(.fetchNext(Self.fetch)))
        state.withLock { $0.pending = call }
        return call
    }

    /// Limits how long a call may take; a bridge that does not return in time is killed.
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

    /// Returns the call's reply, or nil at the deadline, when the call continues.
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

    /// Ends the session once, with this reason; returns the reason that was first.
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
