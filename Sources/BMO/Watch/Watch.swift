// Watch keeps the database and the remote in sync. One task syncs periodically, and at once when a remote reports
// changes; another pushes shortly after each local edit. They share only the file.

internal import StoreContract

/// The options of a watch.
public struct WatchOptions: Sendable {
    /// The entities to sync and push; nil for all.
    public var entities: [String]?
    /// The pause from the end of a sync to the next one.
    public var every: Duration
    /// The health file; nil for none.
    public var health: String?
    /// See ``Workspace/PushOptions/grace``.
    public var grace: Duration

    /// Creates options.
    public init(
        entities: [String]? = nil, every: Duration = .seconds(30), health: String? = nil,
        grace: Duration = .seconds(30)
    ) {
        self.entities = entities
        self.every = every
        self.health = health
        self.grace = grace
    }
}

/// An event of a watch.
public enum WatchEvent: Sendable {
    /// A sync ended.
    case synced(SyncReport)
    /// A sync reported an event.
    case sync(SyncEvent)
    /// An edit was tried.
    case edit(PushReport.Edit)
    /// A push ended.
    case pushed(PushReport)
    /// A sync failed as a whole, such as one that could not open the database.
    case unsynced(any Error)
    /// A round was skipped, or something else went wrong, and why.
    case trouble(String)
    /// Another event that a person should know of, such as a new configuration.
    case notice(String)
}

extension Workspace {
    /// Syncs periodically and pushes after each local edit, until the task is cancelled.
    ///
    /// Failures are reported and retried with growing delays. A cancelled sync keeps its finished pages; an edit that
    /// is being sent is waited for. The configuration stays as it was loaded, whatever becomes of its file.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - news: Changes that the program learns of; they are synced at once.
    ///   - report: Called from any thread.
    /// - Throws: `ConfigurationErrors` for faults that `bmo check` finds in these entities; `StoreError` when the
    ///   database cannot be opened at all, or the health file cannot be written.
    public func watch(
        _ options: WatchOptions, news: RemoteNews = RemoteNews(), report: @escaping @Sendable (WatchEvent) -> Void
    ) async throws {
        try await watch(options, news: news, following: nil, report: report)
    }

    /// Watches as ``watch(_:news:report:)`` does, and follows the configuration's file.
    ///
    /// - Parameters:
    ///   - configuration: The file that this workspace was loaded from; nil to follow none.
    ///   - onReload: Called with each new configuration, when the watch goes on with it.
    package func watch(
        _ options: WatchOptions, news: RemoteNews, following configuration: FollowedConfiguration?,
        onReload: @Sendable (Workspace) -> Void = { _ in }, report: @escaping @Sendable (WatchEvent) -> Void
    ) async throws {
        let health = WatchHealth(path: options.health)
        if let fault = health.note({ _ in }) {
            throw StoreError(.request, fault, remedy: "create its folder, or name another file")
        }
        try await withTaskCancellationHandler {
            defer { health.stop() }
            let first = WatchRounds(
                workspace: self, options: options, health: health, news: news, configuration: configuration,
                report: report)
            let opened = try await first.start()
            await first.runWithReloads(opened, onReload: onReload)
        } onCancel: {
            // Work in progress may take longer than a supervisor waits for the stop.
            health.stop()
        }
    }
}
