internal import StoreContract

extension Workspace {
    /// Works as ``work(_:report:)`` does, until the configuration's file has a new content that can be used.
    ///
    /// The worker gives its units back then, and ends: all workers of a round need one configuration, and the tables are
    /// adapted to a new one when the first of them starts with it.
    ///
    /// - Returns: The report of the last round that ended, and whether the worker ended because of a new configuration.
    package func work(
        _ options: WorkOptions, until configuration: FollowedConfiguration,
        report: @escaping @Sendable (WorkEvent) -> Void
    ) async throws -> (report: SyncReport?, isOutdated: Bool) {
        try await withThrowingTaskGroup(of: (report: SyncReport?, isOutdated: Bool).self) { group in
            group.addTask {
                do {
                    return (try await self.work(options, report: report), false)
                } catch is CancellationError {
                    return (nil, false)
                }
            }
            group.addTask {
                await configuration.waitForNext(check: { try await Self.checkForWork($0) }) { report(.trouble($0)) }
                return (nil, configuration.isReady)
            }
            var ended: (report: SyncReport?, isOutdated: Bool) = (nil, false)
            while let next = try await group.next() {
                ended = (next.report ?? ended.report, ended.isOutdated || next.isOutdated)
                group.cancelAll()
            }
            return ended
        }
    }

    /// Refuses a configuration with which a worker would not start.
    private static func checkForWork(_ next: Workspace) async throws {
        let connections = Connections(next)
        do {
            try await next.refuseFaults(of: next.syncOrder(nil), over: connections)
        } catch {
            await connections.close()
            throw error
        }
        await connections.close()
        let path = next.configuration.databasePath
        guard next.stores.exists(path) else { return }
        let plan = try next.stores.migrationPlan(of: path, to: next.model)
        if !plan.obstacles.isEmpty { throw plan.refusal }
    }
}
