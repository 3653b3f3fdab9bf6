internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

/// The rounds of a watch with one configuration, in tasks that share only the file.
struct WatchRounds: Sendable {
    var workspace: Workspace
    let options: WatchOptions
    let health: WatchHealth
    let news: RemoteNews
    /// The file that is followed; nil for none.
    let configuration: FollowedConfiguration?
    var database = WatchedDatabase("", nil)
    let report: @Sendable (WatchEvent) -> Void
    /// Opens, reads and closes the database that edits are pushed from.
    let thread = ImportThread(label: "bmo.watch")

    static let tick: Duration = .milliseconds(500)
    /// How long news wait for a process that has the database.
    private static let pauseWhileBusy: Duration = .seconds(2)

    func note(_ change: (inout WatchHealth.State) -> Void) {
        if let fault = health.note(change) { report(.trouble(fault)) }
    }

    /// Whether the loops have to end, because the watch was cancelled or has a new configuration.
    var isEnding: Bool { Task.isCancelled || configuration?.isReady == true }

    /// Returns whether work may begin; it waits while a changed configuration is looked at.
    func mayWork() -> Bool { configuration?.permits() != false }

    /// Sleeps until the end of a pause or of the loops.
    func sleep(for pause: Duration) async {
        let end = ContinuousClock.now + pause
        while !isEnding, ContinuousClock.now < end {
            try? await Task.sleep(for: min(Self.tick, end - .now))
        }
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

    /// When syncs are due; it outlasts a new configuration that cannot be used.
    struct Schedule {
        /// When everything is synced.
        var due: ContinuousClock.Instant
        var failing: FailingEntities
    }

    /// What became of a sync.
    private enum Outcome {
        /// Everything was fetched, or the watch stops.
        case done
        /// Another process has the database: why nothing was done.
        case busy(String)
        /// The configuration has changed: nothing was done.
        case outdated
        /// Why it failed, and the entities that did; none if nothing could be synced.
        case failed(String, Set<String>)
    }

    /// Syncs everything at an interval and in between what changed, until the loops have to end.
    ///
    /// - Parameter schedule: When the syncs are due.
    /// - Returns: The schedule at the end.
    func syncAgainAndAgain(_ schedule: Schedule) async -> Schedule {
        var (due, failing) = (schedule.due, schedule.failing)
        while !isEnding {
            guard mayWork() else {
                await sleep(for: Self.tick)
                continue
            }
            let isDue = ContinuousClock.now >= due
            // News do not put off the sync of everything, which includes them.
            let moved = isDue ? news.take() : await changes(until: due, failing)
            // An earlier configuration may have had more entities.
            let changes = moved.filter { workspace.model.index(of: $0.entity) != nil }
            guard isDue || !changes.isEmpty, !Task.isCancelled else { continue }
            note { $0.state = "syncing" }
            let outcome: Outcome
            if isDue {
                let waiting = failing.waiting()
                outcome = await syncAll(without: waiting)
                for change in failing.leftOut(of: changes, waiting: waiting) { news.moved(change) }
                switch outcome {
                case .done: failing.noteRound(nil, without: waiting)
                case .failed(let words, let entities):
                    failing.noteRound((words, entities), without: waiting, asked: Set(changes.map(\.entity)))
                case .busy, .outdated: break
                }
            } else {
                let tried: Set<String>
                (outcome, tried) = await sync(changes)
                switch outcome {
                case .done: failing.noteAsked(tried, nil)
                case .failed(let words, let entities): failing.noteAsked(tried, (words, entities))
                case .busy, .outdated: break
                }
            }
            let isOutdated = if case .outdated = outcome { true } else { false }
            let busy: String? = if case .busy(let words) = outcome { words } else { nil }
            if isDue, !isOutdated { due = .now + failing.pauseOfRounds }
            note { state in
                if !isOutdated { state.rounds += 1 }
                state.state = failing.count == 0 ? "waiting" : "failing"
                state.failures = failing.count
                // A round that was skipped is neither a success nor a failure.
                state.error = failing.message ?? busy ?? configuration?.fault
            }
            if busy != nil || isOutdated {
                // The sender of the news was told that the sync follows.
                for change in changes { news.moved(change) }
                if !isDue { await sleep(for: Self.pauseWhileBusy) }
            }
        }
        return Schedule(due: due, failing: failing)
    }

    /// Waits a moment for news, and for the entities that are tried again because a sync that news asked for has failed.
    private func changes(until due: ContinuousClock.Instant, _ failing: FailingEntities) async -> [RemoteNews.Change] {
        let next = min(due, failing.nextAsked ?? due, .now + .seconds(1))
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
            case .outdated: return (.outdated, [])
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
            switch outcome {
            case .busy, .outdated: return outcome
            case .done where hasArrived: break
            case .done, .failed: return absent
            }
        }
        return .done
    }

    private func syncOnce(
        _ options: Workspace.SyncOptions, onEnd: (SyncReport) -> Void = { _ in }
    ) async -> Outcome {
        do {
            noteDatabase()
            let store = try await workspace.openLockedStore(command: "bmo watch", whenLocked: checkBeforeOpening)
            // This has made a file anew that was missing.
            noteDatabase()
            let summary = try await closing(store) {
                try await workspace.sync(into: store, options) { [report] in report(.sync($0)) }
            }
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
        } catch is OutdatedConfiguration {
            return .outdated
        } catch let error as StoreError where error.code == .busy {
            // Another process is syncing: not a failure.
            report(.trouble(error.description))
            return .busy(error.description)
        } catch {
            report(.unsynced(error))
            return .failed("\(error)", [])
        }
    }

    /// Runs `body`, and closes the database in any case.
    private func closing(
        _ store: any Store, after body: () async throws -> SyncReport
    ) async throws -> SyncReport {
        let result: Result<SyncReport, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        try? await ImportThread(label: "bmo.close").run { try store.close() }
        return try result.get()
    }
}
