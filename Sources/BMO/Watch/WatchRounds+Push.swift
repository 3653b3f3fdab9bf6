internal import Importer
internal import Mapping
internal import Model
internal import StoreContract
internal import SystemCalls

extension WatchRounds {
    /// Pushes after each local edit, until the loops have to end.
    ///
    /// - Parameter database: The open database, which is closed at the end.
    func pushAgainAndAgain(_ database: ReopenedStore) async {
        var database = database
        var generation = database.generation
        var seen: Int64?
        var next = ""
        var failures = 0
        while !isEnding {
            do {
                noteDatabase()
                if let store = try await current(&database) {
                    if database.generation != generation { seen = nil }
                    generation = database.generation
                    let version = try await thread.run { try store.dataVersion() }
                    let isDue = version != seen || hasCome(next)
                    // Most ticks find nothing to do, and need not read the configuration's files.
                    if isDue, mayWork() {
                        next = try await pushOnce(store)
                        // The push's own writes are not news.
                        seen = try await thread.run { [self] in
                            let version = try store.dataVersion()
                            return try hasNews(store) ? nil : version
                        }
                    }
                }
                failures = 0
            } catch is CancellationError {
                break
            } catch is OutdatedConfiguration {
                // The loops end, or go on with the next tick.
            } catch {
                failures += 1
                report(.trouble("\(error)"))
                await sleep(for: Backoff.pause(afterFailures: failures, longest: .seconds(60)))
            }
            await sleep(for: Self.tick)
        }
        do {
            try await thread.run { [last = database] in
                var database = last
                try database.close()
            }
        } catch {
            report(.trouble("\(error)"))
        }
    }

    /// Returns whether to check again; so it is if that time is further away than any pause, since the clock was wrong.
    private func hasCome(_ next: String) -> Bool {
        guard !next.isEmpty else { return false }
        let now = Clock.now()
        return next <= now || next > Clock.text(now, plus: max(Backoff.longestWish, options.every) + options.grace)
    }

    /// Returns the database to which the path leads now, see ``ReopenedStore/current(whenOpening:)``.
    private func current(_ database: inout ReopenedStore) async throws -> (any Store)? {
        let (after, store) = try await thread.run { [self, before = database] in
            var database = before
            // What a failure leaves is kept, too: the old file is closed.
            let store = Result { try database.current(whenOpening: checkBeforeOpening) }
            return (database, store)
        }
        database = after
        return try store.get()
    }

    /// Returns whether an edit can be sent now.
    private func hasNews(_ store: any Store) throws -> Bool {
        let names = options.entities.map { workspace.model.model.names(under: $0) }
        return try store.nextToSend(at: Clock.now(), entities: names, excluding: []) != nil
    }

    /// Pushes any waiting edits, and returns when to check again; empty to wait for the next commit.
    private func pushOnce(_ store: any Store) async throws -> String {
        let waiting = try await thread.run { try store.outbox() }
        note { $0.outbox = waiting.count }
        let now = Clock.now()
        if waiting.contains(where: { isDue($0, at: now) }) {
            var pushOptions = Workspace.PushOptions(entities: options.entities, grace: options.grace)
            // A long queue does not go on to what the configuration no longer says.
            pushOptions.mayGoOn = { [configuration] in configuration?.permits() != false }
            do {
                let summary = try await workspace.push(from: store, pushOptions, command: "bmo watch") {
                    [report] edit in
                    if edit.outcome.kind != .waits || edit.failure != nil { report(.edit(edit)) }
                }
                report(.pushed(summary))
                let left = try await thread.run { try store.outbox().count }
                note { state in
                    state.outbox = left
                    state.lastPush = (Clock.now(), summary.count(.sent), left)
                }
            } catch let error as StoreError where error.code == .busy {
                // Another process is sending them.
                return Clock.text(after: .seconds(5))
            }
        }
        let later = try await thread.run { try store.outbox() }.filter { [.pending, .unknown].contains($0.state) }
        guard !later.isEmpty else { return "" }
        // Edits in an unknown state are looked up with each round.
        let soonest = later.filter { !isDue($0, at: now) }.compactMap { entry in
            entry.notBefore.map { entry.state == .unknown ? Clock.text($0, plus: options.grace) : $0 }
        }.min()
        return soonest ?? Clock.text(after: max(options.every, .seconds(5)))
    }

    /// Returns whether a push has something to do for an edit.
    private func isDue(_ entry: OutboxEntry, at now: String) -> Bool {
        switch entry.state {
        case .pending: entry.isDue(at: now)
        case .unknown: entry.isLate(at: now, grace: options.grace) ?? true
        case .sending: true
        case .refused, .conflict: false
        }
    }
}
