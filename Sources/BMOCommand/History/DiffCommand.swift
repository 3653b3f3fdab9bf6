internal import ArgumentParser
internal import BMO
internal import Importer
internal import StoreContract

/// `bmo diff`.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what a run did to each row: the columns that changed, old and new.",
        discussion: """
            Without a number it shows the newest run that changed something; `bmo runs` lists them. The first load of an \
            entity is one line, whatever the number of its rows.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The run's number.", valueName: "run"))
    var run: Int64?

    @Option(help: ArgumentHelp("Only this entity's rows.", valueName: "entity"))
    var entity: String?

    @Option(help: ArgumentHelp("Print at most this number of rows as a table.", valueName: "count"))
    var limit = 1000

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit takes a count of 0 or more, not \(limit)") }
    }

    func run() async throws {
        let workspace = try await options.workspace()
        if let entity { _ = try WorkspaceOptions.entity(entity, in: workspace) }
        let store = try options.storeForReading(of: workspace)
        guard let id = try run ?? store.lastRunWithChanges() else {
            throw CommandFailure("none of the kept runs changed anything")
        }
        guard let record = try store.runs(id: id).first else {
            throw CommandFailure(
                "there is no run \(id); `bmo runs` lists those that are kept", exitCode: CommandFailure.usage)
        }
        if json {
            let printer = DiffPrinter(workspace.model, limit: nil)
            var array = JSONArrayPrinter()
            try store.changes(of: id, entity: entity) { array.add(printer.json($0)) }
            array.finish()
        } else {
            print(RunsCommand.title(record))
            var printer = DiffPrinter(workspace.model, limit: limit)
            try store.changes(of: id, entity: entity) { printer.add($0) }
            printer.finish()
        }
        try store.close()
    }
}
