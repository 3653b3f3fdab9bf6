internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Model
internal import StoreContract

/// `bmo swap`.
struct SwapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swap",
        abstract: "Show what would change if an entity came through another bridge, before you switch.",
        discussion: """
            bmo swap User --to crm2 --section crm2.yml --dry-run    the rows that would differ
            bmo swap User --to crm2 --section crm2.yml              what to write into bmo.yml

            FILE has what differs in the entity: the section for the other bridge's plugin, and the attributes that \
            have another `from` there; it may also declare the other bridge, under `bridges:`. It is not needed if the \
            other bridge has the same plugin and takes the same section, or is one of the entity's `sources`.

            The configuration is not changed. With --dry-run everything is fetched from the other bridge and imported \
            into a transaction that is rolled back; the exit code is that of a sync.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: "The entity.")
    var entity: String

    @Option(help: ArgumentHelp("The other bridge, of the configuration or of FILE.", valueName: "bridge"))
    var to: String

    @Option(help: ArgumentHelp("The entity's members for the other bridge, as YAML.", valueName: "file"))
    var section: String?

    @Flag(help: "Fetch from the other bridge, and show the rows that would be added, deleted or changed.")
    var dryRun = false

    @Flag(help: "With --dry-run: print a JSON object per changed row, then one for the sync.")
    var json = false

    func validate() throws {
        if json, !dryRun { throw ValidationError("--json is for --dry-run") }
    }

    func run() async throws {
        // The current configuration must be valid first.
        let current = try await options.workspace()
        _ = try WorkspaceOptions.entity(entity, in: current)
        let swap: BridgeSwap
        do {
            swap = try BridgeSwap(of: entity, to: to, in: options.file, section: section)
        } catch {
            throw CommandFailure(error.description, exitCode: CommandFailure.usage)
        }
        let workspace: Workspace
        do {
            workspace = try await swap.workspace(host: try options.host, stores: try Stores.chosen)
        } catch let errors as ConfigurationErrors {
            let faults = errors.diagnostics.map { fault in
                "  \(fault.location): \(fault.message)" + (fault.remedy.map { "; \($0)" } ?? "")
            }
            throw CommandFailure(
                "\(entity) cannot come through \"\(to)\" as it stands:\n" + faults.joined(separator: "\n"),
                exitCode: CommandFailure.usage)
        }
        if dryRun { try await rehearse(workspace) } else { printChange(swap, workspace) }
    }

    private func printChange(_ swap: BridgeSwap, _ workspace: Workspace) {
        let (old, new) = (describe(swap.oldBridge, workspace), describe(to, workspace))
        print("# \(entity) comes through \(old) now. For \(new), let \(options.file) say:")
        print(swap.text)
        print("# `--dry-run` shows which rows would change. The next sync fetches everything.")
    }

    private func describe(_ bridge: String, _ workspace: Workspace) -> String {
        let plugin = workspace.configuration.bridge(named: bridge)?.plugin ?? ""
        return UsedBridge(
            source: nil, bridge: bridge, plugin: plugin, version: workspace.plugins[plugin]?.version ?? ""
        ).text
    }

    private func rehearse(_ workspace: Workspace) async throws {
        let store = try await workspace.openLockedStore(command: "bmo swap \(entity) --dry-run", rehearsing: true)
        let progress = SyncProgress(mode: .fitting(json: json))
        // Everything that the other bridge lacks must show, so ignore the deletion limit and the old bridge's cursor.
        let wanted = Workspace.SyncOptions(entities: [entity], restart: true, full: true, allowsDeletes: true)
        let work = Task { try await workspace.sync(into: store, wanted) { progress.show($0) } }
        let signals = SignalTrap { work.cancel() }
        let report = try await work.value
        signals.cancel()
        progress.finish(report)
        var printer = DiffPrinter(workspace.model, limit: 1000)
        if let run = report.run { try printer.add(run, of: store, json: json) }
        if json {
            print(report.json)
        } else if report.succeeded || report.run != nil {
            printer.finish()
        }
        try store.close()
        for entity in report.entities {
            if case .failed(let failure) = entity.outcome { Terminal.error(failure.description, facts: failure.facts) }
        }
        if report.wasInterrupted {
            throw CommandFailure("interrupted; nothing was written", exitCode: signals.exitCode)
        }
        guard report.succeeded else { throw ExitCode(CommandFailure.failed) }
        guard !json else { return }
        if report.entities.contains(where: { $0.counts.deleted > 0 }) {
            print("a sync deletes that many rows only with --allow-deletes, because of the entity's deletion limit")
        }
        print("dry run: nothing was written, and \(options.file) is as it was")
    }
}
