internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

/// The rounds of a watch, in tasks that share only the file.
struct WatchRounds: Sendable {
    let workspace: Workspace
    let options: WatchOptions
    let health: WatchHealth
    let news: RemoteNews
    let database: WatchedDatabase
    let report: @Sendable (WatchEvent) -> Void

    static let tick: Duration = .milliseconds(500)
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

    /// Reports once if the database's file was moved, deleted or replaced.
    func noteDatabase() {
        guard let words = database.change() else { return }
        note { $0.notice = (Clock.now(), words) }
        report(.trouble(words))
    }

    // MARK: sync

    /// What became of a sync.
    private enum Outcome {
        /// Everything was fetched, or the watch stops.
        case done
        /// Another process has the database: why nothing was done.
        case busy(String)
        /// Why it failed, and the entities that did; none if nothing could be synced.
        case failed(String, Set<String>)
    }

    /// Syncs everything at an interval and in between what changed, until the task is cancelled.
    func syncAgainAndAgain() async {
        var due = ContinuousClock.now
        var failing = FailingEntities(every: options.every)
        while !Task.isCancelled {
            let isDue = ContinuousClock.now >= due
            // News do not put off the sync of everything, which includes them.
            let changes = isDue ? news.take() : await changes(until: due, failing)
            guard isDue || !changes.isEmpty, !Task.isCancelled else { continue }
            note { $0.state = "syncing" }
            var busy: String?
            if isDue {
                switch await syncAll(without: failing.waiting()) {
                case .busy(let words): busy = words
                case .done: failing.noteRound(nil)
                case .failed(let words, let entities):
                    failing.noteRound((words, entities), asked: Set(changes.map(\.entity)))
                }
            } else {
                let (outcome, tried) = await sync(changes)
                switch outcome {
                case .busy(let words): busy = words
                case .done: failing.noteAsked(tried, nil)
                case .failed(let words, let entities): failing.noteAsked(tried, (words, entities))
                }
            }
            if isDue { due = .now + failing.pauseOfRounds }
            note { state in
                state.rounds += 1
                state.state = failing.count == 0 ? "waiting" : "failing"
                state.failures = failing.count
                // A round that was skipped is neither a success nor a failure.
                state.error = failing.message ?? busy
            }
            if busy != nil {
                // The sender of the news was told that the sync follows.
                for change in changes { news.moved(change) }
                if !isDue { try? await Task.sleep(for: Self.pauseWhileBusy) }
            }
        }
    }

    /// Waits for news, and for the entities that are tried again because a sync that news asked for has failed.
    private func changes(until due: ContinuousClock.Instant, _ failing: FailingEntities) async -> [RemoteNews.Change] {
        let next = min(due, failing.nextAsked ?? due)
        // The sync after the pause of an entity includes its news.
        let moved = (await news.next(within: next - .now) ?? []).filter { !failing.isAsked($0.entity) }
        return moved + failing.asked().map { RemoteNews.Change(entity: $0) }
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
    ///
    /// - Returns: The outcome, and the entities that were synced as a whole.
    private func sync(_ changes: [RemoteNews.Change]) async -> (Outcome, tried: Set<String>) {
        var whole: [String] = []
        for change in changes {
            switch await fetchAll(change) {
            case .done: break
            case .failed: whole.append(change.entity)
            case .busy(let words): return (.busy(words), [])
            }
        }
        guard !whole.isEmpty, !Task.isCancelled else { return (.done, []) }
        return (await syncOnce(Workspace.SyncOptions(entities: whole)), Set(whole))
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
            noteDatabase()
            let store = try await workspace.openLockedStore(command: "bmo watch")
            defer { try? store.close() }
            // This has made a file anew that was missing.
            noteDatabase()
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
}
