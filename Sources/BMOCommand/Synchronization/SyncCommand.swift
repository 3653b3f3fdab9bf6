internal import ArgumentParser
internal import BMO
internal import Foundation
internal import Importer
internal import Logging
internal import StoreContract
internal import SystemCalls

/// `bmo sync`.
struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Fetch entities through their bridges and import them.",
        discussion: """
            Each page is committed together with its position in the scan. Ctrl-C stops within a second and keeps the \
            committed pages; the next sync continues after them. An entity that fails does not affect the others.

            Rows that a complete listing lacks are deleted, as the entity's `deletes` says. If that would be more than \
            its deletion limit allows (20 % and 10 rows), nothing is deleted and the exit code is 1; --allow-deletes \
            lifts the limit.

            With --where only a part of one entity is fetched: `bmo sync User --where 'city=Paris'`. Conditions that the \
            entity's `filters` map go to the API, and all are checked before the import. Such a sync deletes nothing, \
            moves no cursor and asks no further source; `bmo plan` shows which conditions go where.

            Only one sync at a time writes a database: a second one fails at once and says which process holds the \
            lock, or waits with --wait. Reading needs no lock.

            With --dry-run everything is fetched and imported as usual, then rolled back: what would change is \
            printed, no file is created, and the exit code is that of the sync. Other processes cannot write the \
            database meanwhile.

            With --json each line of stdout is one JSON object: events as they happen, the report last.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The entities to sync; all when none is named.", valueName: "entity"))
    var entities: [String] = []

    @OptionGroup var filter: FilterOptions

    @Flag(help: "Write events and the report as JSON lines to stdout.")
    var json = false

    @Flag(help: "Restart interrupted scans from the beginning.")
    var restart = false

    @Flag(help: "Ask for everything, even where `incremental` would ask only for changes.")
    var full = false

    @Flag(help: "Delete the rows that the listings lack, without the limit of `deletes`.")
    var allowDeletes = false

    @Flag(help: "Show what would change, and write nothing.")
    var dryRun = false

    @Flag(name: [.short, .long], help: "Print only the final table and the failures.")
    var quiet = false

    @Option(
        defaultAsFlag: LockWait.unlimited,
        help: ArgumentHelp(
            "Wait for another sync of this database to end, at most this long (30s, 5m, 1h).", valueName: "duration"))
    var wait: LockWait? = nil

    @Option(
        help: ArgumentHelp(
            "Do only one of several parts of the sync, such as 2/4, each with a database of its own.",
            valueName: "number/count"))
    var shard: String?

    @OptionGroup var metrics: MetricsOptions

    func validate() throws {
        if let shard, SyncShard(shard) == nil {
            throw ValidationError(
                "the value \"\(shard)\" of --shard is not a part of a sync; use a form like 2/4, the second of four, "
                    + "with at most \(SyncShard.most) parts")
        }
        if dryRun, metrics.metrics != nil {
            throw ValidationError("--dry-run writes nothing, and --metrics counts what was written: leave out one")
        }
        if !filter.conditions.isEmpty, allowDeletes || restart || full {
            throw ValidationError(
                "--where fetches a part of a listing, which deletes nothing and does not move the cursor: "
                    + "--allow-deletes, --restart and --full have no effect with it")
        }
        // The parser reads `--wait=soon` as a bare `--wait`, because the next word may be an entity.
        for argument in CommandLine.arguments where argument.hasPrefix("--wait=") {
            let value = String(argument.dropFirst("--wait=".count))
            guard LockWait(argument: value) == nil else { continue }
            throw ValidationError("the value \"\(value)\" of --wait is not a duration; use a form like 30s, 5m or 1h")
        }
    }

    func run() async throws {
        let metrics = dryRun ? nil : try metrics.output()
        let file = options.configurationFile
        if !dryRun { try await options.learnAttributes(file) }
        let workspace = try await options.workspace(
            file, toleratesRefusals: true, preloading: entities.isEmpty ? .all : .named(entities))
        for name in entities { _ = try WorkspaceOptions.entity(name, in: workspace) }
        let conditions = try filter.parsed(entities, in: workspace)
        let command = (["bmo sync"] + entities).joined(separator: " ")
        let waiting = Task {
            try await workspace.openLockedStore(
                command: command, timeout: wait?.timeout ?? .none, rehearsing: dryRun
            ) { holder in
                Terminal.error(
                    "waiting for \(holder?.description ?? "another process")", prefix: "bmo: note: ")
            }
        }
        let signals = SignalTrap { waiting.cancel() }
        let store: any Store
        do {
            store = try await Self.value(of: waiting, failingIn: metrics)
        } catch is CancellationError {
            throw CommandFailure("interrupted while waiting; nothing was done", exitCode: signals.exitCode)
        }
        let progress = SyncProgress(mode: .fitting(json: json, quiet: quiet))
        let syncOptions = Workspace.SyncOptions(
            entities: entities.isEmpty ? nil : entities, restart: restart, full: full, allowsDeletes: allowDeletes,
            conditions: conditions, shard: shard.flatMap { SyncShard($0) })
        let work = Task {
            try await workspace.sync(into: store, syncOptions) { progress.show($0) }
        }
        signals.handle { work.cancel() }
        var report = try await Self.value(of: work, failingIn: metrics)
        signals.cancel()
        progress.finish(report)
        let conflicts = try store.conflicts().count
        report.conflicts = conflicts
        metrics?.note(report, store)
        if dryRun { try showChanges(report, workspace, store) }
        if json { print(report.json) } else { print(SyncTable.text(report)) }
        if dryRun, !json { print("dry run: nothing was written") }
        try showTrouble(report, store)
        if conflicts > 0, !json {
            Terminal.error(
                "\(Terminal.count(conflicts, "conflict", "conflicts")): `bmo conflicts` shows "
                    + (conflicts == 1 ? "it" : "them"), prefix: "bmo: note: ")
        }
        try store.close()
        await metrics?.finish()
        if report.wasInterrupted {
            throw CommandFailure(
                dryRun
                    ? "interrupted; nothing was written"
                    : "interrupted; the committed pages are kept, and the next sync continues after them",
                exitCode: signals.exitCode)
        }
        if report.isMisconfigured { throw ExitCode(CommandFailure.usage) }
        if !report.succeeded { throw ExitCode(CommandFailure.failed) }
    }

    /// Returns the result of a task; an error, in place of a report, is noted in the metrics as a failed sync.
    private static func value<Result>(
        of task: Task<Result, any Error>, failingIn metrics: TelemetryOutput?
    ) async throws -> Result {
        do {
            return try await task.value
        } catch  where !(error is CancellationError) {
            metrics?.note(failedSync: error)
            await metrics?.finish()
            throw error
        }
    }

    /// Formats a failure on one line; one caused by a bridge's configuration is reported once for all entities.
    private static func words(_ failure: SyncFailure, in report: SyncReport) -> String? {
        guard failure.code == "configuration", failure.page == nil else { return failure.description }
        let entities = report.entities.compactMap { entity -> String? in
            guard case .failed(let other) = entity.outcome, other.isSame(as: failure) else { return nil }
            return other.entity
        }
        guard let first = entities.first, entities.count > 1 else { return failure.description }
        var all = failure
        all.entity = "\(first) and \(entities.count - 1) more"
        return all.description
    }

    private func showChanges(_ report: SyncReport, _ workspace: Workspace, _ store: any Store) throws {
        var printer = DiffPrinter(workspace.model, limit: 1000)
        if let run = report.run { try printer.add(run, of: store, json: json) }
        if !json { printer.finish() }
    }

    private func showTrouble(_ report: SyncReport, _ store: any Store) throws {
        var told: Set<String> = []
        for entity in report.entities {
            if case .failed(let failure) = entity.outcome, let words = Self.words(failure, in: report),
                told.insert(words).inserted
            {
                Terminal.error(words, facts: failure.facts)
            }
            for failure in entity.parents?.failures.dropFirst() ?? [] {
                Terminal.error(
                    "  \(failure.parent): \(failure.code): \(failure.failure.message)", prefix: "", level: .error,
                    facts: failure.failure.facts)
            }
            if let page = entity.resumedAfterPage {
                Terminal.error(
                    "\(entity.name): continued after page \(page) of an interrupted scan; --restart starts from the beginning",
                    prefix: "bmo: note: ", facts: ["entity": "\(entity.name)"])
            }
            // A JSON log has them already.
            if quiet, !CommandLog.isJSON {
                for warning in entity.warnings {
                    Terminal.error("\(entity.name): \(warning)", prefix: "bmo: warning: ")
                }
            }
            guard entity.counts.quarantined > 0 else { continue }
            let records = try store.quarantined(entity: entity.name)
            // A later record of the same object may have replaced one.
            let count = min(entity.counts.quarantined, records.count)
            guard count > 0 else { continue }
            Terminal.error(
                "\(entity.name): \(count) record\(count == 1 ? " is" : "s are") in quarantine; "
                    + "`bmo quarantine \(entity.name)` shows all",
                prefix: "bmo: warning: ", facts: ["entity": "\(entity.name)"])
            for record in records.suffix(3) {
                Terminal.error(
                    "  " + record.record.place + ": " + record.record.reason, prefix: "", level: .warning,
                    facts: ["entity": "\(entity.name)"])
            }
        }
    }
}

extension SyncFailure {
    /// Returns whether it is the same failure of another entity.
    fileprivate func isSame(as other: SyncFailure) -> Bool {
        bridge == other.bridge && code == other.code && message == other.message && page == other.page
            && location == other.location && remote == other.remote
    }
}
