internal import ArgumentParser
internal import RecordBatch

/// `bmo connectors`.
struct ConnectorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connectors",
        abstract: "List the configurations that come with bmo, and your own.",
        discussion: """
            A connector is a ready configuration for a product or a service. `bmo connectors show NAME` explains one, \
            `bmo init --from NAME` writes it. Your own are in ~/.local/share/bmo/connectors ($XDG_DATA_HOME), each as \
            NAME.yml or as a folder NAME with a bmo.yml and a case that `bmo fixtures run` replays.
            """,
        subcommands: [ConnectorsListCommand.self, ConnectorsShowCommand.self],
        defaultSubcommand: ConnectorsListCommand.self)
}

/// `bmo connectors list`, the default subcommand of `bmo connectors`.
struct ConnectorsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the connectors, with what each reads.")

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    @OptionGroup var log: LogOptions

    func run() throws {
        let (entries, faults) = ConnectorCatalog.all()
        for fault in faults { Terminal.error(fault, prefix: "bmo: warning: ") }
        guard !entries.isEmpty else {
            throw CommandFailure(
                "no connectors were found: this bmo was installed without ../share/bmo/connectors beside the program")
        }
        if json {
            var printer = JSONArrayPrinter()
            for entry in entries { printer.add(entry.json) }
            printer.finish()
            return
        }
        // A description may be longer than the cells of a table are.
        let width = entries.map(\.name.count).max() ?? 0
        for entry in entries {
            let name = Terminal.printable(entry.name)
            let padding = String(repeating: " ", count: max(0, width - name.count))
            print("\(name)\(padding)  \(entry.isShipped ? "" : "(yours) ")\(Terminal.printable(entry.about))")
        }
    }
}

/// `bmo connectors show`.
struct ConnectorsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Explain a connector: its entities, its variables, and how it was tested.")

    @Argument(help: ArgumentHelp("A name, or the path of a folder or file, which has a \"/\".", valueName: "name"))
    var name: String

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var log: LogOptions

    func run() throws {
        let entry = try ConnectorCatalog.entry(name)
        if json {
            print(entry.json)
            return
        }
        for line in entry.head { print(Terminal.printable(line)) }
        print("")
        print(
            Terminal.table(
                ["entity", "bridge", "writable"],
                entry.entities.map { [$0.name, $0.plugin, $0.isWritable ? "yes" : "no"] }))
        print("")
        if !entry.variables.isEmpty {
            print("environment: \(Terminal.printable(entry.variables.joined(separator: " ")))")
        }
        print("tested: \(entry.proof.map(Terminal.printable) ?? "it has no case")")
        print("file: \(Terminal.printable(entry.file))")
        let name = self.name.contains("/") ? self.name : entry.name
        print("next: bmo init --from \(Terminal.printable(name)), then bmo check && bmo sync")
    }
}

extension CatalogEntry {
    /// What `--json` prints.
    fileprivate var json: String {
        RecordBatchWriter.json { writer in
            writer.member("name", name)
            writer.member("about", about)
            writer.member("shipped", isShipped)
            writer.member("file", file)
            writer.key("variables")
            writer.array { for variable in variables { writer.text(variable) } }
            writer.key("entities")
            writer.array {
                for entity in entities {
                    writer.object {
                        writer.member("name", entity.name)
                        writer.member("plugin", entity.plugin)
                        writer.member("writable", entity.isWritable)
                    }
                }
            }
            writer.member("tested", proof)
        }
    }
}
