// Watch keeps the database and the remote in sync. One task syncs periodically, and at once when a remote reports
// changes; another pushes shortly after each local edit. They share only the file.

internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

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
    /// A round was skipped, or failed as a whole, and why.
    case trouble(String)
}

extension Workspace {
    /// Syncs periodically and pushes after each local edit, until the task is cancelled.
    ///
    /// Failures are reported and retried with growing delays. A cancelled sync keeps its finished pages; an edit that
    /// is being sent is waited for.
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
        let health = WatchHealth(path: options.health)
        if let fault = health.note({ _ in }) {
            throw StoreError(.request, fault, remedy: "create its folder, or name another file")
        }
        try await withTaskCancellationHandler {
            do {
                try await watch(options, health, news, report: report)
            } catch {
                health.stop()
                throw error
            }
            health.stop()
        } onCancel: {
            // Work in progress may take longer than a supervisor waits for the stop.
            health.stop()
        }
    }

    private func watch(
        _ options: WatchOptions, _ health: WatchHealth, _ news: RemoteNews,
        report: @escaping @Sendable (WatchEvent) -> Void
    ) async throws {
        // Creates or migrates the database once, so that a configuration that does not fit fails now.
        let connections = Connections(self)
        do {
            try await refuseFaults(of: syncOrder(options.entities), over: connections)
        } catch {
            await connections.close()
            throw error
        }
        await connections.close()
        do {
            try await openLockedStore(command: "bmo watch").close()
        } catch let error as StoreError where error.code == .busy {
            report(.trouble(error.description))
        }
        let database = try ReopenedStore(self)
        let watch = WatchRounds(
            workspace: self, options: options, health: health, news: news,
            database: WatchedDatabase(configuration.databasePath, database.file), report: report)
        let listeners = listeners(to: news, options.entities)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch.syncAgainAndAgain() }
            group.addTask { await watch.pushAgainAndAgain(database) }
            group.addTask { await watch.beat() }
            for listener in listeners { group.addTask { await listener.listen { report(.trouble($0)) } } }
        }
    }
}
