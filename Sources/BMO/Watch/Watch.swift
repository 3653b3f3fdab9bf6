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
        let store = try openStore()
        let watch = Watch(workspace: self, options: options, health: health, news: news, report: report)
        let listeners = listeners(to: news, options.entities)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch.syncAgainAndAgain() }
            group.addTask { await watch.pushAgainAndAgain(store) }
            group.addTask { await watch.beat() }
            for listener in listeners { group.addTask { await listener.listen { report(.trouble($0)) } } }
        }
        try store.close()
    }
}

private struct Watch {
    let workspace: Workspace
    let options: WatchOptions
    let health: WatchHealth
    let news: RemoteNews
    let report: @Sendable (WatchEvent) -> Void

    private static let tick: Duration = .milliseconds(500)
    private static let maxPause: Duration = .seconds(900)
    /// How long news wait for a process that has the database.
    private static let pauseWhileBusy: Duration = .seconds(2)

    func note(_ change: (inout WatchHealth.State) -> Void) {
        if let fault = health.note(change) { report(.trouble(fault)) }
    }

    /// Updates the health file periodically.
    func beat() async {
        while !Task.isCancelled {
            note { _ in }
            try? await Task.sleep(for: .seconds(30))
        }
    }

    // MARK: sync

    /// What became of a sync.
    private enum Outcome {
        var failure: (words: String, entities: Set<String>)? {
            if case .failed(let words, let entities) = self { (words, entities) } else { nil }
        }

        /// Everything was fetched, or the watch stops.
        case done
        /// Another process has the database: why nothing was done.
        case busy(String)
        /// Why it failed, and the entities that did; none if nothing could be synced.
        case failed(String, Set<String>)
    }

    func syncAgainAndAgain() async {
        var due = ContinuousClock.now
        var failing = FailingEntities()
        while !Task.isCancelled {
            let isDue = ContinuousClock.now >= due
            // News do not put off the sync of everything.
            let moved = isDue ? nil : await news.next(within: due - ContinuousClock.now)
            guard isDue || moved != nil, !Task.isCancelled else { continue }
            note { $0.state = "syncing" }
            let outcome: Outcome
            if let moved {
                outcome = await sync(moved)
                if case .busy = outcome {
                    // The sender of the news was told that the sync follows.
                    for change in moved { news.moved(change) }
                    try? await Task.sleep(for: Self.pauseWhileBusy)
                }
            } else {
                news.forget()
                outcome = await syncAll(without: failing.waiting)
            }
            var busy: String?
            if case .busy(let words) = outcome {
                // The round was skipped: neither a success nor a failure.
                busy = words
            } else {
                failing.note(outcome.failure, pause: { pause(afterFailures: $0) }, isWhole: moved == nil)
            }
            if isDue { due = .now + (failing.isTotal ? pause(afterFailures: failing.count) : options.every) }
            note { state in
                state.rounds += 1
                state.state = failing.count == 0 ? "waiting" : "failing"
                state.failures = failing.count
                state.error = failing.message ?? busy
            }
        }
    }

    /// Syncs everything but the entities that failed and wait for their next try.
    private func syncAll(without waiting: Set<String>) async -> Outcome {
        var entities = options.entities
        if !waiting.isEmpty {
            let all = entities ?? workspace.syncOrder(nil).map { workspace.model.entities[$0].name }
            entities = all.filter { !waiting.contains($0) }
        }
        return entities?.isEmpty == true ? .done : await syncOnce(Workspace.SyncOptions(entities: entities))
    }

    /// Syncs what changed.
    private func sync(_ changes: [RemoteNews.Change]) async -> Outcome {
        var whole: [String] = []
        for change in changes {
            switch await fetchAll(change) {
            case .done: break
            case .failed: whole.append(change.entity)
            case .busy(let words): return .busy(words)
            }
        }
        guard !whole.isEmpty, !Task.isCancelled else { return .done }
        return await syncOnce(Workspace.SyncOptions(entities: whole))
    }

    /// Fetches single objects; `failed` if one did not arrive.
    ///
    /// It may have been deleted, which only a sync of the entity determines.
    private func fetchAll(_ change: RemoteNews.Change) async -> Outcome {
        let absent = Outcome.failed("not all objects arrived", [change.entity])
        guard !change.keys.isEmpty else { return absent }
        for key in change.keys {
            guard let wanted = await workspace.syncOptions(ofObject: key, of: change.entity) else { return absent }
            var hasArrived = false
            let outcome = await syncOnce(wanted) { report in
                hasArrived = report.entities.map(\.counts).contains { $0.inserted + $0.updated + $0.unchanged > 0 }
            }
            if case .busy = outcome { return outcome }
            guard case .done = outcome, hasArrived else { return absent }
        }
        return .done
    }

    private func syncOnce(
        _ options: Workspace.SyncOptions, onEnd: (SyncReport) -> Void = { _ in }
    ) async -> Outcome {
        do {
            let store = try await workspace.openLockedStore(command: "bmo watch")
            defer { try? store.close() }
            let summary = try await workspace.sync(into: store, options) { [report] in report(.sync($0)) }
            report(.synced(summary))
            onEnd(summary)
            note { $0.lastSync = (Clock.now(), summary.outcomeWord) }
            if summary.succeeded || summary.wasInterrupted { return .done }
            let failures = summary.entities.compactMap { entity -> (name: String, words: String)? in
                if case .failed(let failure) = entity.outcome { (entity.name, failure.description) } else { nil }
            }
            let isTotal = failures.count == summary.entities.count
            return .failed(failures.first?.words ?? "the sync failed", isTotal ? [] : Set(failures.map(\.name)))
        } catch is CancellationError {
            return .done
        } catch let error as StoreError where error.code == .busy {
            // Another process is syncing: not a failure.
            report(.trouble(error.description))
            return .busy(error.description)
        } catch {
            report(.trouble("\(error)"))
            return .failed("\(error)", [])
        }
    }

    private func pause(afterFailures count: Int) -> Duration {
        guard count > 0 else { return options.every }
        var pause = options.every
        for _ in 1..<min(count, 20) where pause < Self.maxPause { pause = pause * 2 }
        return max(options.every, min(pause, Self.maxPause))
    }

    // MARK: push

    func pushAgainAndAgain(_ store: any Store) async {
        var seen: Int64?
        var next = ""
        var failures = 0
        while !Task.isCancelled {
            do {
                let version = try store.dataVersion()
                if version != seen || !next.isEmpty && next <= Clock.now() {
                    next = try await pushOnce(store)
                    // The push's own writes are not news.
                    seen = try store.dataVersion()
                    if try hasNews(store) { seen = nil }
                }
                failures = 0
            } catch is CancellationError {
                return
            } catch {
                failures += 1
                report(.trouble("\(error)"))
                try? await Task.sleep(for: Backoff.pause(afterFailures: failures, longest: .seconds(60)))
            }
            try? await Task.sleep(for: Self.tick)
        }
    }

    /// Returns whether an edit can be sent now.
    private func hasNews(_ store: any Store) throws -> Bool {
        let names = options.entities.map { workspace.model.model.names(under: $0) }
        return try store.nextToSend(at: Clock.now(), entities: names, excluding: []) != nil
    }

    /// Pushes any waiting edits, and returns when to check again; empty to wait for the next commit.
    private func pushOnce(_ store: any Store) async throws -> String {
        let waiting = try store.outbox()
        note { $0.outbox = waiting.count }
        let now = Clock.now()
        let isDue = waiting.contains { entry in
            switch entry.state {
            case .pending: entry.notBefore.map { $0 <= now } ?? true
            case .unknown: entry.notBefore.map { Clock.text($0, plus: options.grace) <= now } ?? true
            case .sending: true
            case .refused, .conflict: false
            }
        }
        if isDue {
            let pushOptions = Workspace.PushOptions(entities: options.entities, grace: options.grace)
            do {
                let summary = try await workspace.push(from: store, pushOptions, command: "bmo watch") {
                    [report] edit in
                    if edit.outcome.kind != .waits || edit.failure != nil { report(.edit(edit)) }
                }
                report(.pushed(summary))
                let left = try store.outbox().count
                note { state in
                    state.outbox = left
                    state.lastPush = (Clock.now(), summary.count(.sent), left)
                }
            } catch let error as StoreError where error.code == .busy {
                // Another process is sending them.
                return Clock.text(after: .seconds(5))
            }
        }
        let later = try store.outbox().filter { $0.state == .pending || $0.state == .unknown }
        guard !later.isEmpty else { return "" }
        // Edits in an unknown state are looked up with each round.
        let soonest = later.compactMap { entry in
            entry.notBefore.map { entry.state == .unknown ? Clock.text($0, plus: options.grace) : $0 }
        }.filter { $0 > now }.min()
        return soonest ?? Clock.text(after: max(options.every, .seconds(5)))
    }
}
