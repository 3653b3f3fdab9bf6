internal import Model
internal import StoreContract
internal import SystemCalls

/// The configuration has changed since the watch has loaded it, and the new one was not looked at yet.
struct OutdatedConfiguration: Error {}

extension WatchRounds {
    // MARK: loops

    /// Prepares the database, and opens it.
    ///
    /// - Throws: `ConfigurationErrors` for faults that `bmo check` finds; `StoreError` if the database cannot be opened or
    ///   does not fit the configuration; `OutdatedConfiguration` if the files of a new one have changed meanwhile.
    func start() async throws -> ReopenedStore {
        try await workspace.refuseFaults(of: options.entities)
        // Creates or migrates the database once, so that a configuration that does not fit fails now.
        do {
            let store = try await workspace.openLockedStore(command: "bmo watch", whenLocked: checkStart)
            try await thread.run { try store.close() }
        } catch let error as StoreError where error.code == .busy {
            report(.trouble(error.description))
        }
        try checkStart()
        return try await thread.run { [workspace] in try ReopenedStore(workspace) }
    }

    private func checkStart() throws {
        try configuration?.checkNext()
        // A new configuration may name another database.
        if workspace.configuration.databasePath == database.path { try database.refuseStaleLog() }
    }

    /// Syncs and pushes until the task is cancelled, and begins anew with each new configuration.
    func runWithReloads(_ opened: ReopenedStore, onReload: @Sendable (Workspace) -> Void) async {
        var rounds = self
        var opened = opened
        var schedule = newSchedule
        while true {
            let path = rounds.workspace.configuration.databasePath
            if rounds.database.path != path { rounds.database = WatchedDatabase(path, opened.file) }
            schedule = await rounds.run(opened, schedule)
            guard !Task.isCancelled, let configuration, configuration.isReady else { return }
            var new = rounds
            do {
                guard let next = configuration.takeNext() else { throw OutdatedConfiguration() }
                new.workspace = next
                opened = try await new.start()
                rounds = new
                schedule = newSchedule
                configuration.accept()
                onReload(next)
                let words = configuration.reloadWords
                note { state in
                    state.notice = (Clock.now(), words)
                    state.error = nil
                }
                report(.notice(words))
            } catch is OutdatedConfiguration {
                // The loops look at the new content.
                opened = ReopenedStore(closed: rounds.workspace)
            } catch {
                // Something has changed since the check of the new configuration.
                if Task.isCancelled { return }
                if let words = configuration.refuse(error) {
                    note { $0.error = words }
                    report(.trouble(words))
                }
                opened = ReopenedStore(closed: rounds.workspace)
            }
        }
    }

    private var newSchedule: Schedule { Schedule(due: .now, failing: FailingEntities(every: options.every)) }

    /// Runs the loops until the task is cancelled, or a new configuration is ready and the running round has ended.
    ///
    /// - Returns: When syncs are due, for the next call.
    private func run(_ opened: ReopenedStore, _ schedule: Schedule) async -> Schedule {
        let listeners = workspace.listeners(to: news, options.entities)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await beat() }
            group.addTask { await followConfiguration() }
            for listener in listeners {
                group.addTask { [report] in await listener.listen { report(.trouble($0)) } }
            }
            async let sync = syncAgainAndAgain(schedule)
            async let push: Void = pushAgainAndAgain(opened)
            let (next, _) = await (sync, push)
            group.cancelAll()
            return next
        }
    }

    // MARK: configuration

    /// Looks at the configuration's files until a new configuration is ready.
    private func followConfiguration() async {
        guard let configuration else { return }
        while !isEnding {
            switch await configuration.look(check: { try await check($0) }) {
            case .none, .ready: break
            case .refused(let words):
                note { if $0.error == nil { $0.error = words } }
                report(.trouble(words))
            case .restored: note { if $0.state != "failing" { $0.error = nil } }
            }
            await sleep(for: FollowedConfiguration.lookPause)
        }
    }

    /// Refuses a configuration with which a watch would not start.
    private func check(_ next: Workspace) async throws {
        for name in options.entities ?? [] where next.model.index(of: name) == nil {
            throw StoreError(
                .request, "the entity \(name), which the watch was started for, is not in it",
                remedy: "restart the watch without the entity")
        }
        try await next.refuseUnusable(options.entities)
    }

    /// Refuses to open the database while it cannot be used as this watch would.
    ///
    /// Call it with the lock, see ``checkConfiguration()``.
    func checkBeforeOpening() throws {
        try database.refuseStaleLog()
        try checkConfiguration()
    }

    /// Refuses to write with a configuration that is not the one in the file, if the database may be adapted to that one.
    ///
    /// Call it with the lock: another program adapts the database with the lock, after its file has changed.
    private func checkConfiguration() throws {
        guard let configuration else { return }
        guard configuration.permits() else { throw OutdatedConfiguration() }
        guard configuration.isRefused, workspace.stores.exists(workspace.configuration.databasePath) else { return }
        // Opening it for writing would add what the earlier configuration has and the present one has not.
        do {
            try workspace.openStoreForReading().close()
        } catch let error as StoreError where error.code == .schema {
            throw StoreError(
                .schema, "the database was adapted to another configuration than that of this watch: \(error.message)",
                remedy: "correct \(workspace.configuration.file); the watch then goes on with it")
        }
    }
}
