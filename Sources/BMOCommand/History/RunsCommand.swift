internal import ArgumentParser
internal import BMO
internal import RecordBatch
internal import StoreContract

/// `bmo runs`.
struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs",
        abstract: "List the runs that changed or reported something, newest first.",
        discussion: "`history:` in the configuration says how long they are kept; 90 days by default.")

    @OptionGroup var options: WorkspaceOptions

    @Option(help: ArgumentHelp("Print at most this number of runs.", valueName: "count"))
    var limit = 20

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit takes a count of 0 or more, not \(limit)") }
    }

    func run() async throws {
        let workspace = try await options.workspace()
        let store = try options.storeForReading(of: workspace, [])
        let runs = try store.runs(limit: limit)
        try store.close()
        if json {
            var printer = JSONArrayPrinter()
            for run in runs { printer.add(Self.json(run)) }
            printer.finish()
        } else {
            let rows = runs.map { run in
                [String(run.id), Self.kind(run), run.started, run.finished ?? "", run.outcome, Self.counts(run)]
            }
            print(Terminal.table(["run", "what", "began", "ended", "outcome", "changes"], rows, rightAligned: [0]))
            print(Terminal.count(runs.count, "run", "runs"))
        }
    }

    /// Formats a run's title: `run 7, sync, 2026-11-21T10:00:00.000000Z, finished`.
    static func title(_ run: RunRecord) -> String { "run \(run.id), \(kind(run)), \(run.started), \(run.outcome)" }

    private static func kind(_ run: RunRecord) -> String { run.undoes.map { "\(run.kind) of \($0)" } ?? run.kind }

    private static func counts(_ run: RunRecord) -> String {
        let parts = run.counts.parts.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    static func json(_ run: RunRecord) -> String {
        RecordBatchWriter.json { writer in
            writer.member("run", Int(run.id))
            writer.member("kind", run.kind)
            writer.member("undoes", run.undoes.map { Int($0) })
            writer.member("started", run.started)
            writer.member("finished", run.finished)
            writer.member("outcome", run.outcome)
            writer.key("changes")
            writer.object { for part in run.counts.parts { writer.member(part.word, part.count) } }
        }
    }
}
