internal import Importer
public import StoreContract

extension RequestManager {
    /// Syncs whole entities as `bmo sync` does, rather than single objects as a fetch does.
    ///
    /// It waits for running requests, and requests wait for it: each holds the file lock. When the task is cancelled,
    /// imported pages stay, and the report says `interrupted`.
    ///
    /// ```swift
    /// let report = try await manager.sync(.init(entities: ["Country"]))
    /// for entity in report.entities { if case .failed(let failure) = entity.outcome { print(failure) } }
    /// ```
    ///
    /// - Parameters:
    ///   - options: The sync's options; nil for all entities. Unless they have a ``Workspace/SyncOptions/lockTimeout``,
    ///     it waits as long as the manager's options say.
    ///   - report: Called for progress, from any thread.
    /// - Returns: The report, which contains failed entities; they are not thrown.
    /// - Throws: `StoreError`: `busy` when another process writes the file for longer than the time limit, `request`
    ///   for an invalid condition; `CancellationError` when the task was cancelled while it waited; ``RequestError``
    ///   after ``close()``.
    public func sync(
        _ options: Workspace.SyncOptions? = nil, report: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws -> SyncReport {
        let options = (options ?? Workspace.SyncOptions()).waiting(self.options.lockTimeout)
        return try await tasks.run("") { [workspace] in
            let store = try await workspace.openLockedStore(
                command: Workspace.programName, timeout: options.lockTimeout)
            do {
                let result = try await workspace.sync(into: store, options, report: report)
                try store.close()
                return result
            } catch {
                try? store.close()
                throw error
            }
        }
    }

    /// Returns the runs that changed or reported something, newest first.
    ///
    /// - Parameter limit: The maximum number of runs.
    /// - Throws: ``RequestError`` when the database cannot be read.
    public func runs(limit: Int = 20) async throws -> [RunRecord] {
        try await whileOpen(.answeredLocally, "") {
            try await reader.run { [reader] in try reader.store.runs(limit: limit) }
        }
    }

    /// Returns a run's changes to each row, by entity, then by key.
    ///
    /// - Parameters:
    ///   - run: The run's number.
    ///   - entity: Limits the result to this entity's rows.
    /// - Throws: ``RequestError`` when the database cannot be read.
    public func changes(of run: Int64, entity: String? = nil) async throws -> [RowChange] {
        try await whileOpen(.answeredLocally, entity ?? "") {
            try await reader.run { [reader] in
                var changes: [RowChange] = []
                try reader.store.changes(of: run, entity: entity) { changes.append($0) }
                return changes
            }
        }
    }

    /// Reverts a run completely or not at all, without touching the remote.
    ///
    /// - Parameter run: The run's number.
    /// - Returns: The number of the run that records the revert, which can itself be undone.
    /// - Throws: `UndoRefusal` with the rows that were changed since; ``RequestError`` for a run that does not exist or
    ///   cannot be undone, and when another process writes the file for longer than the manager's time limit.
    @discardableResult
    public func undo(run: Int64) async throws -> Int64 {
        try await atStep(.importing, "") {
            try await tasks.run("") { [workspace, editing, options] in
                let store = try await workspace.openLockedStore(
                    command: Workspace.programName, timeout: options.lockTimeout)
                return try await editing.run {
                    defer { try? store.close() }
                    return try store.undo(run: run)
                }
            }
        }
    }
}
