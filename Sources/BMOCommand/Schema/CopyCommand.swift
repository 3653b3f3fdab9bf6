internal import ArgumentParser
internal import BMO
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// `bmo copy`.
struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy the database to another file or server, with its history and its outbox.",
        discussion: """
            The target is the path of an SQLite file that does not exist yet, or the address of a PostgreSQL database, \
            whose schema is missing or has no rows: `bmo copy --to postgresql://bmo@db.example.com/crm`. It gets the \
            rows, links, runs with their changes, waiting edits with conflicts, quarantine and cursors. All of it is \
            then read again from both databases and compared row by row. If anything fails, the target is as before.

            A scan that was interrupted begins again after the copy. Tables, columns and indexes that bmo did not create \
            are not copied. The database itself stays as it is; to use the copy, change `database:` in the \
            configuration.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Option(help: ArgumentHelp("Where to: the path of a file, or a postgresql:// address.", valueName: "location"))
    var to: String

    @Option(
        help: ArgumentHelp(
            "Wait for the locks of both databases, a time such as 30s, 5m or 1h.", valueName: "time"))
    var wait: LockWait?

    @Flag(help: "Print a JSON object.")
    var json = false

    func validate() throws {
        if DatabaseURI.isURI(to), DatabaseURI.hasLiteralPassword(to) {
            throw ValidationError(
                "--to contains a password, which other processes can see: write {env:NAME} or {file:PATH} in its place, "
                    + "or use libpq's password file")
        }
    }

    func run() async throws {
        let workspace = try await options.workspace()
        let source = try options.databasePath(of: workspace)
        let target = Configuration.location(ofDatabase: to)
        guard target != source else {
            throw CommandFailure("--to names the database itself", exitCode: CommandFailure.usage)
        }
        var locks: [any StoreLock] = []
        defer { for lock in locks { lock.release() } }
        for location in [source, target] {
            for purpose in [LockPurpose.writing, .pushing] {
                locks.append(
                    try await workspace.stores.lock(
                        location, for: purpose, command: "bmo copy", timeout: wait?.timeout ?? .none))
            }
        }
        show(try workspace.stores.copy(source, to: target, model: workspace.model), workspace.model, at: target)
    }

    private func show(_ tables: [CopiedTable], _ model: CompiledModel, at target: String) {
        guard !json else {
            print(
                RecordBatchWriter.json { writer in
                    writer.member("to", to)
                    writer.key("tables")
                    writer.object {
                        for table in tables where table.table != .bookkeeping(.counters) {
                            writer.member(table.table.name(in: model), Int64(table.rows))
                        }
                    }
                })
            return
        }
        let filled = tables.filter { $0.rows > 0 && $0.table != .bookkeeping(.counters) }
        print(
            Terminal.table(
                ["table", "rows"], filled.map { [$0.table.name(in: model), String($0.rows)] }, rightAligned: [1]))
        // The paths of a configuration begin in its own folder, those of a command in the working folder.
        let shown = to.contains("://") ? to : target
        print("copied, and compared row by row; to use the copy, write \"database: \(shown)\" in \(options.file)")
    }
}
