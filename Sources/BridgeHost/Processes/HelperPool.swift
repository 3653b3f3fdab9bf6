internal import Logging
internal import RecordBatch

/// The child processes that do work delegated by another process of the same bridge: `bmo_host.work`.
///
/// They start on demand with the same options and cannot delegate work themselves.
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

    /// Runs a fetch and returns its first batch.
    func work(_ request: RecordBatch) async -> BridgeReply {
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
        let seconds = limits.delegatedWork.components.seconds
        let late = BridgeReply.lost(
            BridgeFailure(.timeout, "a helper did not answer within \(seconds) s", bridge: log.bridge))
        let timer = closed.fulfil(after: limits.delegatedWork, with: late) { [pool, log] in
            log.logger.warning("a helper process is ended: it did not answer within \(seconds) s")
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
