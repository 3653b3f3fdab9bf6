internal import StoreContract

/// How a worker ended that looks at its configuration's file.
package struct WorkEnding: Sendable {
    /// The report of the last round that ended; nil if none did.
    package var report: SyncReport?
    /// Whether the worker ended because of a new configuration.
    package var isOutdated = false
}

extension Workspace {
    /// Works as ``work(_:report:)`` does, until the configuration's file has a new content that can be used.
    ///
    /// The worker gives its units back then, and ends: all workers of a round need one configuration, and the tables are
    /// adapted to a new one when the first of them starts with it.
    package func work(
        _ options: WorkOptions, until configuration: FollowedConfiguration,
        report: @escaping @Sendable (WorkEvent) -> Void
    ) async throws -> WorkEnding {
        try await withThrowingTaskGroup(of: WorkEnding.self) { group in
            group.addTask {
                do {
                    return WorkEnding(report: try await self.work(options, report: report))
                } catch is CancellationError {
                    return WorkEnding()
                }
            }
            group.addTask {
                await configuration.waitForNext(check: { try await Self.checkForWork($0) }) { report(.trouble($0)) }
                return WorkEnding(isOutdated: configuration.isReady)
            }
            var ended = WorkEnding()
            while let next = try await group.next() {
                ended.report = next.report ?? ended.report
                ended.isOutdated = ended.isOutdated || next.isOutdated
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
