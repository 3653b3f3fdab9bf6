internal import ArgumentParser
internal import BMO
internal import Importer
internal import Mapping
internal import RecordBatch
internal import StoreContract

/// `bmo conflicts`.
struct ConflictsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show the values that were changed both here and on the remote.",
        discussion: "`bmo resolve ENTITY KEY --take local|remote` decides them.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Only this entity's.", valueName: "entity"))
    var entity: String?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func run() async throws {
        let workspace = try await options.workspace()
        if let entity { _ = try WorkspaceOptions.entity(entity, in: workspace) }
        let store = try options.storeForReading(of: workspace)
        let conflicts = try store.conflicts(entity: entity, key: nil)
        try store.close()
        if json {
            var printer = JSONArrayPrinter()
            for conflict in conflicts { printer.add(Self.json(conflict)) }
            printer.finish()
            return
        }
        if !conflicts.isEmpty {
            let rows = conflicts.map { conflict in
                [
                    EditRun.name(conflict.entity, conflict.key), conflict.column ?? "(the object)",
                    Self.text(conflict.base), Self.text(conflict.local),
                    conflict.column == nil && conflict.remote == nil ? "" : Self.text(conflict.remote), conflict.seen,
                ]
            }
            print(Terminal.table(["object", "column", "was", "here", "remote", "since"], rows))
        }
        print(Terminal.count(conflicts.count, "conflict", "conflicts"))
    }

    private static func text(_ value: StoredValue?) -> String { value.map(\.description) ?? "" }

    private static func json(_ conflict: EditConflict) -> String {
        RecordBatchWriter.json { writer in
            func member(_ name: String, _ value: StoredValue?) {
                writer.key(name)
                (value.map(OutgoingValue.plain) ?? .null).write(to: writer)
            }
            writer.member("entity", conflict.entity)
            writer.key("key")
            writer.array { for value in conflict.key { OutgoingValue.plain(value).write(to: writer) } }
            writer.member("column", conflict.column)
            member("base", conflict.base)
            member("local", conflict.local)
            member("remote", conflict.remote)
            writer.member("seen", conflict.seen)
        }
    }
}

/// `bmo resolve`.
struct ResolveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Decide a conflict: keep the local value and send it, or take the remote's.",
        discussion: """
            Without --column all conflicts of the object are decided. If the remote has deleted the object, taking \
            local creates it there again, and taking remote deletes it here.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
    var entity: String

    @Argument(help: ArgumentHelp("The object's key.", valueName: "key"), transform: NegativeKey.word)
    var key: [String]

    @Option(help: ArgumentHelp("The side whose value wins: local or remote.", valueName: "side"))
    var take: String

    @Option(help: ArgumentHelp("Decide only this column.", valueName: "name"))
    var column: String?

    func run() async throws {
        guard let side = ConflictSide(rawValue: take) else {
            throw CommandFailure(
                "the value \"\(take)\" of --take is not one of local, remote", exitCode: CommandFailure.usage)
        }
        let workspace = try await options.workspace()
        let store = try options.store(of: workspace)
        let input = EditInput(try WorkspaceOptions.entity(entity, in: workspace), in: workspace)
        let key = try input.key(key).map(\.identity)
        let conflicts = try store.conflicts(entity: entity, key: key).filter { column == nil || $0.column == column }
        guard !conflicts.isEmpty else {
            if column == nil,
                let entry = try store.outbox(entity: entity, key: key).first(where: { $0.state == .conflict })
            {
                throw CommandFailure(
                    "\(EditRun.name(entity, key)) has no two values to choose from: the remote refused the edit as a "
                        + "conflict, and reading the object returned no other version; `bmo outbox retry \(entry.id)` "
                        + "sends the edit again, `bmo outbox drop \(entry.id)` rolls it back here")
            }
            let what = column.map { " in \($0)" } ?? ""
            throw CommandFailure("\(EditRun.name(entity, key)) has no conflict\(what); `bmo conflicts` lists them")
        }
        try store.resolve(entity: entity, key: key, column: column, take: side)
        let left = try store.conflicts(entity: entity, key: key).count
        try store.close()
        let rest = left > 0 ? "; \(Terminal.count(left, "conflict is", "conflicts are")) left" : ""
        let next = side == .local && left == 0 ? "; `bmo push` sends the local values" : ""
        print("\(EditRun.name(entity, key)): the \(side.rawValue) values win\(rest)\(next)")
    }
}
