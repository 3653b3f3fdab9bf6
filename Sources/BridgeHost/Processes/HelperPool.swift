internal import Logging
internal import RecordBatch

/// The child processes that do work delegated by another process of the same bridge: `bmo_host.work`.
///
/// They start on demand with the same options and cannot delegate work themselves.
final class HelperPool: Sendable {
    private let pool: SessionPool
    private let limits: BridgeLimits
    private let log: BridgeLog

    /// - Parameter open: Starts a process and opens a session with it.
    init(limits: BridgeLimits, log: BridgeLog, open: @escaping SessionPool.Open) {
        self.limits = limits
        self.log = log
        pool = SessionPool(bridge: log.bridge, fetchesPerSession: 1, most: limits.helpers, open: open)
    }

    /// The time limit for one piece of work, from the request to the answer.
    ///
    /// The delegating call waits for it, and must have time left to do the work itself.
    private var limit: Duration { min(limits.delegatedWork, limits.call / 5) }

    /// Runs a fetch and returns its first batch, or a failure after the time limit.
    func work(_ request: RecordBatch) async -> BridgeReply {
        let answer = Promise<BridgeReply>()
        // Also covers the wait for a helper and the start of its process.
        let timer = answer.fulfil(after: limit, with: self.late)
        defer { timer.cancel() }
        Task { answer.fulfil(await run(request)) }
        return await answer.value
    }

    private var late: BridgeReply {
        let seconds = limit.components.seconds
        return .lost(BridgeFailure(.timeout, "a helper did not answer within \(seconds) s", bridge: log.bridge))
    }

    private func run(_ request: RecordBatch) async -> BridgeReply {
        let lease: SessionPool.Lease
        do {
            lease = try await pool.lease()
        } catch {
            return .lost(error)
        }
        defer { pool.release(lease) }
        let opened = lease.session.submit(.fetchOpen(lease.fetch, request))
        // Calls of a fetch run in order, so this need not wait in between.
        let batch = lease.session.submit(.fetchNext(lease.fetch))
        let closed = lease.session.submit(.fetchClose(lease.fetch))
        let late = late
        let timer = closed.fulfil(after: limit, with: late) { [pool, log] in
            log.logger.warning("a helper process that does not answer is ended")
            pool.abandon(lease)
            opened.fulfil(late)
            batch.fulfil(late)
        }
        defer { timer.cancel() }
        let opening = await opened.value
        let reply = await batch.value
        _ = await closed.value
        guard case .done = opening else { return opening }
        return reply
    }

    /// Ends the processes.
    func close() async { await pool.close(grace: .seconds(2)) }
}
