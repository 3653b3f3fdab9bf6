internal import RecordBatch

/// Child processes that work on what another process of the same bridge leaves to them: `bmo_host.work`.
///
/// They start when they are needed, have the same options, and leave nothing to others themselves.
final class HelperPool: Sendable {
    private let pool: SessionPool
    private let limits: BridgeLimits
    private let log: BridgeLog

    init(_ opener: SessionOpener, limits: BridgeLimits, log: BridgeLog) {
        self.limits = limits
        self.log = log
        pool = SessionPool(bridge: log.bridge, fetchesPerSession: 1, most: limits.helpers) {
            () async throws(BridgeFailure) -> any BridgeSession in try await opener.open()
        }
    }

    /// The first batch of a fetch.
    func work(_ request: RecordBatch) async -> BridgeReply {
        let lease: SessionPool.Lease
        do {
            lease = try await pool.lease()
        } catch {
            return .lost(error)
        }
        defer { pool.release(lease) }
        let opened = lease.session.submit(.fetchOpen(lease.fetch, request))
        // Calls of a fetch run in order: no need to wait in between.
        let batch = lease.session.submit(.fetchNext(lease.fetch))
        let closed = lease.session.submit(.fetchClose(lease.fetch))
        let late = BridgeReply.lost(BridgeFailure(.timeout, "a helper did not answer", bridge: log.bridge))
        let timer = closed.fulfil(after: limits.call, with: late) { [pool] in
            pool.abandon(lease.session, held: 1)
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
