internal import ArgumentParser
internal import BMO
internal import RecordBatch
internal import StoreContract
internal import TextFormats

/// `bmo work`.
struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Sync together with other processes, on any number of machines, into one PostgreSQL database.",
        discussion: """
            Start any number of processes with the same configuration. A round is a sync of all entities, divided into \
            units: an entity, or a range of parents of an entity that is scanned by parent. Each process claims a unit, \
            imports its pages and claims the next one. If a process dies or does not renew its lease in \
            time, another one takes over its unit, and bmo refuses pages that the first one sends later. Rows that the \
            listings lack are deleted when all units of the entity have ended.

            `bmo sync`, `undo` and `migrate` cannot run beside workers, and workers wait for them. `bmo status` shows \
            workers and units. An SQLite file cannot be shared: use `bmo sync` or `bmo watch`.

            A worker ends with code 1 when its configuration has changed, or another worker has adapted the tables to a \
            new one: all workers need the same one.

            docs/scale.md has measurements, and docs/deploy has files for systemd and Kubernetes.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "End when the round is over, or at once if none is due.")
    var untilIdle = false

    @Option(help: ArgumentHelp("How many units this process works on at a time.", valueName: "number"))
    var concurrency = 1

    @Option(
        help: ArgumentHelp(
            "How long after the end of a round the next one is due (0s, 30s, 5m, 1h).", valueName: "duration"))
    var every = "30s"

    @Option(
        help: ArgumentHelp(
            "How long the lease of this process lasts: unless it is renewed, others take over its units.",
            valueName: "duration"))
    var lease = "30s"

    @Flag(help: "Write events as JSON lines to stdout.")
    var json = false

    @OptionGroup var metrics: MetricsOptions

    func run() async throws {
        guard (1...64).contains(concurrency) else {
            throw CommandFailure("--concurrency must be a number from 1 to 64", exitCode: CommandFailure.usage)
        }
        let lease = try Self.duration(lease, of: "--lease")
        guard lease >= .seconds(1) else {
            throw CommandFailure("--lease must be at least 1s", exitCode: CommandFailure.usage)
        }
        let workOptions = WorkOptions(
            untilIdle: untilIdle, concurrency: concurrency, every: try Self.duration(every, of: "--every"),
            lease: lease)
        let options = options
        let configuration = FollowedConfiguration(
            path: options.file, for: "the worker", learn: { try await options.learnAttributes($0) },
            load: { try await options.workspace($0) })
        let workspace = try await configuration.start()
        let json = json
        let output = EventOutput()
        let log = CommandLog.isJSON ? SyncLog() : nil
        let metrics = try metrics.output()
        let work = Task {
            try await workspace.work(workOptions, until: configuration) { event in
                if let log { Self.write(event, to: log) }
                Self.show(event, json: json, on: output)
                if let metrics, case .round(let report) = event {
                    metrics.noting {
                        let store = try workspace.openStoreForReading()
                        metrics.note(report, store)
                        try store.close()
                    }
                }
            }
        }
        let signals = SignalTrap { work.cancel() }
        let ending = try await work.value
        let wasStopped = work.isCancelled
        signals.cancel()
        await metrics?.finish()
        switch ending.outdated {
        case .configuration where !wasStopped:
            throw CommandFailure(
                "\(options.file) has changed: the worker has given its units back and ends; "
                    + "start all workers again with the new configuration")
        case .tables(let words) where !wasStopped:
            throw CommandFailure(
                "\(words), by a worker with another configuration; give this one the same, and start it again")
        case .configuration, .tables, nil: break
        }
        guard untilIdle else { return try output.check() }
        if wasStopped {
            throw CommandFailure("interrupted; the units were released", exitCode: signals.exitCode)
        }
        if ending.report?.succeeded == false { throw ExitCode(CommandFailure.failed) }
        try output.check()
    }

    private static func duration(_ text: String, of option: String) throws -> Duration {
        guard case .atMost(let duration)? = LockWait(argument: text)?.timeout else {
            throw CommandFailure(
                "the value \"\(text)\" of \(option) is not a duration; use a form like 30s, 5m or 1h",
                exitCode: CommandFailure.usage)
        }
        return duration
    }

    private static func write(_ event: WorkEvent, to log: SyncLog) {
        switch event {
        case .sync(let event): log.write(event)
        case .round(let report): log.write(report)
        case .waits, .claimed, .ended, .superseded, .trouble: break
        }
    }

    private static func show(_ event: WorkEvent, json: Bool, on output: EventOutput) {
        if json {
            if let line = line(event) { output.print(line) }
        } else {
            tell(event, on: output)
        }
    }

    private static func tell(_ event: WorkEvent, on output: EventOutput) {
        switch event {
        case .waits(let holder):
            Terminal.error("waiting for \(holder?.description ?? "another process")", prefix: "bmo: note: ")
        case .claimed(let unit, let claims) where claims > 1:
            output.print("\(Clock.now())  \(unit): continues the work of another worker")
        case .claimed: break
        case .ended(let unit, let report):
            guard let report else { break }
            let counts = report.counts
            output.print(
                "\(Clock.now())  \(unit): \(report.shownOutcome), \(counts.inserted) inserted, \(counts.updated) updated, "
                    + "\(counts.unchanged) unchanged, \(counts.deleted) deleted")
            if case .failed(let failure) = report.outcome { Terminal.error(failure.description, facts: failure.facts) }
        case .superseded(let unit):
            Terminal.error(
                "\(unit): another worker has taken over the unit; this worker's page was refused",
                prefix: "bmo: warning: ")
        case .sync(.warning(let entity, let message)) where !CommandLog.isJSON:
            Terminal.error("\(entity): \(message)", prefix: "bmo: warning: ")
        case .sync: break
        case .round(let report): output.print("\(Clock.now())  the round is over: \(report.outcomeWord)")
        case .trouble(let words): Terminal.error(words, prefix: "bmo: warning: ")
        }
    }

    private static func line(_ event: WorkEvent) -> String? {
        func object(_ name: String, _ body: (RecordBatchWriter) -> Void) -> String {
            RecordBatchWriter.json { writer in
                writer.member("event", name)
                body(writer)
            }
        }
        switch event {
        case .waits(let holder): return object("waits") { $0.member("holder", holder?.description) }
        case .claimed(let unit, let claims):
            return object("claimed") { writer in
                writer.member("unit", unit)
                writer.member("claims", claims)
            }
        case .ended(let unit, let report):
            guard let report else { return object("ended") { $0.member("unit", unit) } }
            return "{\"event\":\"ended\",\"unit\":\(unit.jsonQuoted),\"report\":\(report.json)}"
        case .superseded(let unit): return object("superseded") { $0.member("unit", unit) }
        case .sync: return nil
        case .round(let report): return "{\"event\":\"round\",\"report\":\(report.json)}"
        case .trouble(let words): return object("trouble") { $0.member("message", words) }
        }
    }
}
