internal import ArgumentParser
internal import BMO
internal import Importer
internal import Mapping
internal import RecordBatch
internal import StoreContract

/// `bmo push`.
struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send local edits to the remote.",
        discussion: """
            Each edit is sent once; if the answer was lost, bmo reads the remote before it sends again. A refused edit \
            stays in the outbox with the remote's message and does not block other objects. A sync may run at the same \
            time, another push may not.

            The exit code is 0 if no edit is left behind, else 1.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(
        help: ArgumentHelp("Send only the edits of these entities, and what they depend on.", valueName: "entity"))
    var entities: [String] = []

    @Flag(help: "Show what would be sent, and send nothing.")
    var dryRun = false

    @Flag(help: "Print a JSON object for each edit, and the report last.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "How long after sending it an edit that is not found on the remote is sent again (0s, 30s, 5m).",
            valueName: "duration"))
    var lookAgainAfter = "30s"

    @Option(
        defaultAsFlag: LockWait.unlimited,
        help: ArgumentHelp(
            "Wait for another push of this database to end, at most this long (30s, 5m, 1h).", valueName: "duration"))
    var wait: LockWait? = nil

    @OptionGroup var metrics: MetricsOptions

    func validate() throws {
        if dryRun, metrics.metrics != nil {
            throw ValidationError("--dry-run sends nothing, and --metrics counts what was sent: leave out one")
        }
    }

    func run() async throws {
        guard case .atMost(let grace)? = LockWait(argument: lookAgainAfter)?.timeout else {
            throw CommandFailure(
                "the value \"\(lookAgainAfter)\" of --look-again-after is not a duration; use a form like 30s or 5m",
                exitCode: CommandFailure.usage)
        }
        let metrics = dryRun ? nil : try metrics.output()
        let workspace = try await options.workspace()
        for name in entities { _ = try WorkspaceOptions.entity(name, in: workspace) }
        let store = try dryRun ? options.storeForReading(of: workspace) : options.store(of: workspace)
        let names = entities.isEmpty ? nil : entities
        if dryRun {
            let requests = try workspace.pendingRequests(of: names, in: store)
            return try show(requests, await workspace.plannedRequests(of: requests), names, store)
        }
        let printer = PushPrinter(json: json)
        let pushOptions = Workspace.PushOptions(entities: names, lockTimeout: wait?.timeout ?? .none, grace: grace)
        let command = (["bmo push"] + entities).joined(separator: " ")
        let work = Task {
            try await workspace.push(from: store, pushOptions, command: command) { printer.add($0) }
        }
        let signals = SignalTrap { work.cancel() }
        let report = try await work.value
        signals.cancel()
        metrics?.note(report, store)
        try store.close()
        print(json ? report.json : PushPrinter.summary(report))
        await metrics?.finish()
        if report.wasInterrupted {
            throw CommandFailure("interrupted; unsent edits stay in the outbox", exitCode: signals.exitCode)
        }
        if !report.succeeded { throw ExitCode(CommandFailure.failed) }
    }

    private func show(
        _ requests: [Workspace.PendingRequest], _ planned: [Int64: Workspace.PlannedRequest], _ names: [String]?,
        _ store: any Store
    ) throws {
        let kept = try store.outbox().filter { entry in
            (entry.state == .refused || entry.state == .conflict) && names?.contains(entry.entity) != false
        }
        try store.close()
        for request in requests {
            let entry = request.entry
            if json {
                print(
                    RecordBatchWriter.json { writer in
                        writer.member("entry", Int(entry.id))
                        writer.member("entity", entry.entity)
                        writer.key("key")
                        writer.array { for value in entry.key { OutgoingValue.plain(value).write(to: writer) } }
                        writer.member("operation", entry.operation.rawValue)
                        writer.member("state", entry.state.rawValue)
                        writer.key("values")
                        (request.values ?? .null).write(to: writer)
                        let plan = planned[entry.id]
                        writer.member("fault", request.fault ?? plan?.failure)
                        if let waits = request.waits { writer.member("waits", waits) }
                        if let next = request.next { writer.member("next", next) }
                        if let plan, plan.failure == nil {
                            writer.member("request", plan.request)
                            writer.member("body", plan.body)
                            if let warning = plan.warning { writer.member("warning", warning) }
                        }
                    })
            } else {
                let what = request.fault.map { "cannot be sent: \($0)" } ?? request.values?.shortened.json ?? ""
                let values = entry.operation == .delete && request.fault == nil ? "" : "  \(what)"
                let state = entry.state == .pending ? "" : " (\(entry.state.rawValue))"
                print(
                    Terminal.printable(
                        "\(entry.operation.rawValue)  \(EditRun.name(entry.entity, entry.key))\(state)\(values)"))
                if let waits = request.waits { print("        not sent now: \(Terminal.printable(waits))") }
                if let plan = planned[entry.id] { print(Self.words(plan)) }
            }
        }
        let refused = Set(planned.filter(\.value.isRefused).keys)
        let report = DryPush(requests, refused: refused, kept: kept.map(\.state))
        print(json ? report.json : report.text)
    }

    /// Describes the request that a bridge would send, for the lines below the edit.
    private static func words(_ plan: Workspace.PlannedRequest) -> String {
        if let failure = plan.failure {
            return Terminal.printable(
                "        \(plan.isRefused ? "will be refused" : "the request cannot be shown"): \(failure)")
        }
        let warning = plan.warning.map { ["        will be refused: \($0)"] } ?? []
        return
            ([plan.request, plan.body].filter { !$0.isEmpty }.flatMap { $0.split(separator: "\n") }.map {
                "        \($0)"
            }
            + warning).map(Terminal.printable).joined(separator: "\n")
    }
}
