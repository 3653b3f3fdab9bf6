internal import ArgumentParser
internal import BMO
internal import Importer
internal import Model
internal import RecordBatch
internal import StoreContract
internal import SystemCalls
internal import WebPage

/// `bmo watch`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Keep the database and the remote in step: sync at an interval, push after each edit.",
        discussion: """
            It runs until SIGTERM or Ctrl-C; then it keeps the finished pages of a sync, waits for an edit that is \
            being sent, and exits with 0. A failure is retried after a growing pause, at most 15 minutes. Locks are \
            held only during a sync or a push, so other commands work beside it.

            With --serve, it also serves the web interface of `bmo serve`, to which --listen, --socket, --password and \
            --host belong, and receives webhooks of bridges that have a hook: POST /hooks/ENTITY.

            docs/watch.md has a systemd unit and describes the health file.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Only these entities; all when none is named.", valueName: "entity"))
    var entities: [String] = []

    @Option(
        help: ArgumentHelp(
            "The pause between the end of a sync and the next one (5s, 30s, 5m, 1h).", valueName: "duration"))
    var every = "30s"

    @Option(help: ArgumentHelp("Write the state to this file, as JSON.", valueName: "path"))
    var health: String?

    @Flag(help: "Write events as JSON lines to stdout.")
    var json = false

    @OptionGroup var metrics: MetricsOptions

    @Flag(name: .customLong("serve"), help: "Serve the web interface, and receive webhooks.")
    var isServing = false

    @OptionGroup var serve: ServeOptions

    func run() async throws {
        guard case .atMost(let pause)? = LockWait(argument: every)?.timeout, pause > .zero else {
            throw CommandFailure(
                "the value \"\(every)\" of --every is not a duration; use a form like 30s, 5m or 1h",
                exitCode: CommandFailure.usage)
        }
        guard isServing || serve.areUsual else {
            throw CommandFailure(
                "--listen, --socket, --password and --host belong to --serve", exitCode: CommandFailure.usage)
        }
        let output = EventOutput()
        let service = isServing ? try PageService(serve, output: output) : nil
        let metrics = try metrics.output(isServed: isServing)
        let options = options
        let entities = entities
        let isServing = isServing
        let news = RemoteNews()
        let received = ReceivedWebhooks()
        let receiver: @Sendable (Workspace) throws -> HookReceiver? = { workspace in
            isServing ? try Self.receiver(workspace, entities, news, received) : nil
        }
        let configuration = FollowedConfiguration(
            path: options.file, learn: { try await options.learnAttributes($0) },
            load: { file in
                let workspace = try await options.workspace(file)
                for name in entities { _ = try WorkspaceOptions.entity(name, in: workspace) }
                _ = try receiver(workspace)
                return workspace
            })
        let workspace = try await configuration.start()
        let watchOptions = WatchOptions(entities: entities.isEmpty ? nil : entities, every: pause, health: health)
        let json = json
        let log = CommandLog.isJSON ? SyncLog() : nil
        let hooks = try receiver(workspace)
        let reloads = SiteReloads()
        // Metrics are read with the configuration of the present round.
        let present = Mutex(workspace)
        let watch: @Sendable () async throws -> Void = {
            try await workspace.watch(
                watchOptions, news: news, following: configuration,
                onReload: { next in
                    present.withLock { $0 = next }
                    // It was made once before, when the configuration was loaded.
                    reloads.reload(next, hooks: try? receiver(next))
                },
                report: { event in
                    if let log { Self.write(event, to: log) }
                    Self.show(event, json: json, on: output)
                    if let metrics { Self.note(event, present.withLock { $0 }, in: metrics) }
                })
        }
        let work = Task {
            guard let service else { return try await watch() }
            try await Self.run(
                watch, with: service, workspace, hooks, metrics?.file, configuration, reloads,
                json: json)
        }
        let signals = SignalTrap { work.cancel() }
        if !json { output.print("watching \(workspace.configuration.databasePath), a sync every \(every)") }
        do {
            try await work.value
        } catch is CancellationError {}
        signals.cancel()
        await metrics?.finish()
        if !json { output.print("stopped") }
        try output.check()
    }

    private static func receiver(
        _ workspace: Workspace, _ entities: [String], _ news: RemoteNews, _ received: ReceivedWebhooks
    ) throws -> HookReceiver? {
        do {
            return try HookReceiver(
                workspace, watching: entities.isEmpty ? nil : entities, news: news, received: received,
                warn: { Terminal.error($0, prefix: "bmo: warning: ") })
        } catch let failure as PageFailure {
            throw CommandFailure(failure.description, exitCode: CommandFailure.usage)
        }
    }

    /// Watches and serves until the task is cancelled, or one of them fails; the watch begins when the server listens.
    private static func run(
        _ watch: @escaping @Sendable () async throws -> Void, with service: PageService, _ workspace: Workspace,
        _ hooks: HookReceiver?, _ counters: MetricsFile?, _ configuration: FollowedConfiguration,
        _ reloads: SiteReloads, json: Bool
    ) async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { start.finish() }
                try await service.run(
                    workspace, hooks: hooks, counters: counters, json: json, configuration: configuration,
                    reloads: reloads
                ) {
                    start.yield()
                }
            }
            group.addTask { for await _ in started { return try await watch() } }
            defer { group.cancelAll() }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private static func note(_ event: WatchEvent, _ workspace: Workspace, in metrics: TelemetryOutput) {
        func reading(_ body: (any Store) -> Void) {
            metrics.noting {
                let store = try workspace.openStoreForReading()
                body(store)
                try store.close()
            }
        }
        switch event {
        case .synced(let report): reading { metrics.note(report, $0) }
        case .pushed(let report): reading { metrics.note(report, $0) }
        case .unsynced(let error): metrics.note(failedSync: error)
        case .sync, .edit, .trouble, .notice: break
        }
    }

    private static func write(_ event: WatchEvent, to log: SyncLog) {
        switch event {
        case .sync(let event): log.write(event)
        case .synced(let report): log.write(report)
        case .edit, .pushed, .unsynced, .trouble, .notice: break
        }
    }

    private static func show(_ event: WatchEvent, json: Bool, on output: EventOutput) {
        switch event {
        case .sync(.warning(let entity, let message)) where !json && !CommandLog.isJSON:
            Terminal.error("\(entity): \(message)", prefix: "bmo: warning: ")
        case .sync: break
        case .synced(let report):
            if json {
                output.print("{\"event\":\"sync\",\"report\":\(report.json)}")
            } else {
                for entity in report.entities {
                    if case .failed(let failure) = entity.outcome {
                        Terminal.error(failure.description, facts: failure.facts)
                    }
                }
                if report.hasNews { output.print("\(Clock.now())  sync \(report.outcomeWord)\(counts(report))") }
            }
        case .edit(let edit):
            output.print(json ? "{\"event\":\"edit\",\"edit\":\(edit.json)}" : PushPrinter.line(edit))
        case .pushed(let report): if json { output.print("{\"event\":\"push\",\"report\":\(report.json)}") }
        case .unsynced(let error): tell("\(error)", as: "trouble", prefix: "bmo: warning: ", on: json ? output : nil)
        case .trouble(let words): tell(words, as: "trouble", prefix: "bmo: warning: ", on: json ? output : nil)
        case .notice(let words): tell(words, as: "notice", prefix: "bmo: note: ", on: json ? output : nil)
        }
    }

    /// - Parameter output: Where the event is printed as JSON; nil to tell people.
    private static func tell(_ words: String, as event: String, prefix: String, on output: EventOutput?) {
        guard let output else { return Terminal.error(words, prefix: prefix) }
        output.print(
            RecordBatchWriter.json { writer in
                writer.member("event", event)
                writer.member("message", words)
            })
    }

    private static func counts(_ report: SyncReport) -> String {
        let all = report.entities.map(\.counts)
        func sum(_ count: KeyPath<ImportCounts.Entity, Int>) -> Int { all.reduce(0) { $0 + $1[keyPath: count] } }
        let parts: [(count: Int, name: String)] = [
            (sum(\.inserted), "inserted"), (sum(\.updated), "updated"), (sum(\.deleted), "deleted"),
            (sum(\.quarantined), "in quarantine"),
        ]
        let words = parts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
        return words.isEmpty ? "" : ": " + words.joined(separator: ", ")
    }
}
