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

    /// Reports once if the database's file was moved, deleted or replaced.
    func noteDatabase() {
        guard let words = database.change() else { return }
        note { $0.notice = (Clock.now(), words) }
        report(.trouble(words))
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

    private func pause(afterFailures count: Int) -> Duration {
        guard count > 0 else { return options.every }
        var pause = options.every
        for _ in 1..<min(count, 20) where pause < Self.maxPause { pause = pause * 2 }
        return max(options.every, min(pause, Self.maxPause))
    }
}
