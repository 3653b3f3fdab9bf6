internal import StoreContract

/// How a worker ended that looks at its configuration's file.
package struct WorkEnding: Sendable {
    /// The report of the last round that ended; nil if none did.
    package var report: SyncReport?
    /// Why the worker cannot go on as it was started; nil if it can.
    package var outdated: Reason?

    /// A reason to start a worker again.
    package enum Reason: Sendable {
        /// The configuration's file has a new content.
        case configuration
        /// Another worker has adapted the tables to a new configuration, in these words.
        case tables(String)
    }
}

extension Workspace {
    /// Works as ``work(_:report:)`` does, until the configuration's file has a new content that can be used.
    ///
    /// The worker gives its units back then, and ends: all workers of a round need one configuration, and the tables are
    /// adapted to a new one when the first of them starts with it. That ends the others, too, even if their files have
    /// not changed yet.
    package func work(
        _ options: WorkOptions, until configuration: FollowedConfiguration,
        report: @escaping @Sendable (WorkEvent) -> Void
    ) async throws -> WorkEnding {
        try await withThrowingTaskGroup(of: WorkEnding.self) { group in
            group.addTask {
                do {
                    return WorkEnding(report: try await self.workUntilOutdated(options, report))
                } catch let changed as ChangedTables {
                    return WorkEnding(outdated: .tables(changed.reason.message))
                } catch is CancellationError {
                    return WorkEnding()
                }
            }
            group.addTask {
                await configuration.waitForNext(check: { try await Self.checkForWork($0) }) { report(.trouble($0)) }
                return WorkEnding(outdated: configuration.isReady ? .configuration : nil)
            }
            var ended = try await group.next() ?? WorkEnding()
            group.cancelAll()
            // A new configuration that is found after the work has ended by itself has not ended it.
            while let next = try await group.next() { ended.report = next.report ?? ended.report }
            if options.untilIdle, ended.report != nil { ended.outdated = nil }
            return ended
        }
    }

    /// Refuses a configuration with which a worker would not start.
    private static func checkForWork(_ next: Workspace) async throws {
        let path = next.configuration.databasePath
        // Throws for a kind of database that cannot be shared.
        if case .taken(let lock) = try next.stores.attemptSharedLock(path, command: "bmo work") { lock.release() }
        try next.stores.checkIsNewest(next.model, of: path)
        _ = try SharedLimits(next.configuration)
        try await next.refuseUnusable(nil)
    }
}
