internal import ArgumentParser
internal import BMO
internal import RecordBatch
internal import StoreContract

/// `bmo create`.
struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create an object here; the remote follows.",
        discussion: """
            The object and its outbox entry are written in one transaction; `bmo push` or `bmo watch` sends the entry, \
            or --push at once. If the remote assigns the key, the object has a temporary one until then.

              bmo create Note --set text='buy milk' --set author=7
              echo '[{"text": "a"}, {"text": "b"}]' | bmo create Note --values -
            """)

    @OptionGroup var options: WorkspaceOptions
    @OptionGroup var values: ValueOptions
    @OptionGroup var save: SaveOptions

    @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
    var entity: String

    func run() async throws {
        let workspace = try await options.workspace()
        let input = EditInput(try WorkspaceOptions.entity(entity, in: workspace), in: workspace)
        var edits: [LocalEdit] = []
        if values.values != nil {
            for (number, object) in try values.objects().enumerated() {
                let read = try withExtendedLifetime(object) { try input.values(object[0], "object \(number + 1)") }
                edits.append(LocalEdit(.create, entity: entity, values: read.columns, links: read.links))
            }
        } else {
            let read = try input.values(set: values.set, setNull: values.setNull)
            edits = [LocalEdit(.create, entity: entity, values: read.columns, links: read.links)]
        }
        try await EditRun(workspace: workspace, options: options, save: save).run(
            edits, command: "bmo create \(entity)")
    }
}

/// `bmo update`.
struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change an object here; the remote follows.",
        discussion: """
            Only what changes is written and sent. A key of several attributes is given as several arguments, in the order \
            of the configuration; with --values the key is among each object's members. A text key that begins with - comes \
            last, after --.

              bmo update Note 31 --set text='buy oat milk' --set-null due
            """)

    @OptionGroup var options: WorkspaceOptions
    @OptionGroup var values: ValueOptions
    @OptionGroup var save: SaveOptions

    @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
    var entity: String

    @Argument(help: ArgumentHelp("The object's key.", valueName: "key"), transform: NegativeKey.word)
    var key: [String] = []

    func run() async throws {
        let workspace = try await options.workspace()
        _ = try options.databasePath(of: workspace)
        let input = EditInput(try WorkspaceOptions.entity(entity, in: workspace), in: workspace)
        var edits: [LocalEdit] = []
        if values.values != nil {
            let given = key.isEmpty ? nil : try input.key(key)
            let objects = try values.objects()
            for (number, object) in objects.enumerated() {
                var read = try withExtendedLifetime(object) { try input.values(object[0], "object \(number + 1)") }
                guard let key = given ?? input.key(in: read) else {
                    throw CommandFailure(
                        "object \(number + 1) lacks the key of \(entity)", exitCode: CommandFailure.usage)
                }
                if given != nil, objects.count > 1 {
                    throw CommandFailure(
                        "one key is given, but \(objects.count) objects", exitCode: CommandFailure.usage)
                }
                if let own = input.key(in: read), own == key { input.removeKey(from: &read) }
                edits.append(LocalEdit(.update, entity: entity, key: key, values: read.columns, links: read.links))
            }
        } else {
            let read = try input.values(set: values.set, setNull: values.setNull)
            guard !read.columns.isEmpty || !read.links.isEmpty else {
                throw CommandFailure(
                    "there is nothing to change: give --set, --set-null or --values", exitCode: CommandFailure.usage)
            }
            let key = try input.key(key)
            edits = [LocalEdit(.update, entity: entity, key: key, values: read.columns, links: read.links)]
        }
        try await EditRun(workspace: workspace, options: options, save: save).run(
            edits, command: "bmo update \(entity)")
    }
}

/// `bmo delete`.
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an object here; the remote follows.",
        discussion: """
            A key of several attributes is given as several arguments. An object that was never sent to the remote is \
            simply removed.
            """)

    @OptionGroup var options: WorkspaceOptions
    @OptionGroup var save: SaveOptions

    @Argument(help: ArgumentHelp("The entity.", valueName: "entity"))
    var entity: String

    @Argument(help: ArgumentHelp("The object's key.", valueName: "key"), transform: NegativeKey.word)
    var key: [String]

    func run() async throws {
        let workspace = try await options.workspace()
        _ = try options.databasePath(of: workspace)
        let input = EditInput(try WorkspaceOptions.entity(entity, in: workspace), in: workspace)
        let edit = LocalEdit(.delete, entity: entity, key: try input.key(key))
        try await EditRun(workspace: workspace, options: options, save: save).run(
            [edit], command: "bmo delete \(entity)")
    }
}
