internal import ArgumentParser
internal import BMO
internal import Importer
internal import RecordBatch
internal import StoreContract

/// `bmo undo`.
struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Revert what a run did, all of it or nothing.",
        discussion: """
            Rows that the run inserted are deleted, or become stubs if others refer to them; columns and relationships \
            get their old values; rows that it deleted come back. It is refused, with a list, when a later run or \
            another program has changed the same rows since. An undo is a run itself and can be undone.

            The remote is not changed: the next sync imports its state.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The run's number, as `bmo runs` lists it.", valueName: "run"))
    var run: Int64

    @Flag(help: "Show what would change, and write nothing.")
    var dryRun = false

    @Flag(help: "Print the changes, or the rows that prevent the undo, as a JSON array of objects.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        _ = try options.databasePath(of: workspace)
        let store = try await workspace.openLockedStore(command: "bmo undo \(run)", rehearsing: dryRun)
        // Undoing an edit removes it from the outbox, so the undo itself cannot be undone.
        let isEdit = try store.runs(id: run).first?.kind == "edit"
        let undone: Int64
        do {
            let others = try store.columnsWithoutHistory(undoing: run)
            undone = try store.undo(run: run)
            if !others.isEmpty {
                Terminal.error(
                    "\(others.joined(separator: ", ")): bmo did not create \(others.count == 1 ? "this column" : "these columns") "
                        + "and does not know the values: they are empty in the rows that the undo restores",
                    prefix: "bmo: warning: ")
            }
        } catch let refusal as UndoRefusal {
            try store.close()
            throw Self.failure(refusal, json: json)
        }
        if json {
            let printer = DiffPrinter(workspace.model, limit: nil)
            var array = JSONArrayPrinter()
            try store.changes(of: undone) { array.add(printer.json($0)) }
            array.finish()
        } else {
            var printer = DiffPrinter(workspace.model, limit: 1000)
            try store.changes(of: undone) { printer.add($0) }
            printer.finish()
            print(
                dryRun
                    ? "dry run: nothing was written"
                    : "run \(run) is undone by run \(undone)"
                        + (isEdit
                            ? "; make the edit again if you want it back" : "; `bmo undo \(undone)` reverts that"))
        }
        try store.close()
    }

    private static func failure(_ refusal: UndoRefusal, json: Bool) -> CommandFailure {
        if json {
            var array = JSONArrayPrinter()
            for conflict in refusal.conflicts {
                array.add(
                    RecordBatchWriter.json { writer in
                        writer.member("entity", conflict.entity)
                        writer.member("key", conflict.key)
                        writer.member("reason", conflict.reason)
                    })
            }
            array.finish()
            return CommandFailure(refusal.description)
        }
        let shown = refusal.conflicts.prefix(20).map { "  \($0)" }
        let rest =
            refusal.count > shown.count ? ["  ... and \(refusal.count - shown.count) more; --json lists them"] : []
        return CommandFailure(([refusal.description] + shown + rest).joined(separator: "\n"))
    }
}
