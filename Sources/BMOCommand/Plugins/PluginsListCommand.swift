internal import ArgumentParser
internal import BridgeHost
internal import RecordBatch

/// `bmo plugins list`, the default subcommand of `bmo plugins`.
struct PluginsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show the bridges that were found, and those that were refused, with the reason.",
        discussion: """
            bmo searches for bridges beside the executable, in ../lib/bmo/bridges, where `bmo plugins install` copies \
            them (~/.local/share/bmo/bridges), and in the folders of BMO_PLUGIN_PATH.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Explain this bridge, as `bmo plugins info` does.", valueName: "plugin"))
    var name: String?

    @Flag(help: "Print a JSON array of objects; with a name, an object.")
    var json = false

    func run() async throws {
        let host = try options.host
        if let name {
            print(try await PluginsInfoCommand.explanation(of: name, host, json: json))
            return
        }
        let plugins = await host.plugins()
        if json {
            var printer = JSONArrayPrinter()
            for plugin in plugins { printer.add(Self.json(plugin)) }
            printer.finish()
            return
        }
        let rows = plugins.filter { $0.refusal == nil }.map {
            [
                $0.name, $0.version, $0.abi, $0.runsInChild ? "child process" : "in process",
                $0.capabilities.joined(separator: " "),
            ]
        }
        print(Terminal.table(["plugin", "version", "ABI", "runs", "can"], rows))
        for plugin in plugins where plugin.refusal == nil { print("\(plugin.name): \(plugin.path)") }
        for plugin in plugins {
            if let refusal = plugin.refusal { print("refused: \(plugin.path): \(Terminal.printable(refusal))") }
        }
    }

    static func json(_ plugin: PluginListing) -> String {
        RecordBatchWriter.json { writer in
            writer.member("name", plugin.name)
            writer.member("version", plugin.version)
            writer.member("abi", plugin.abi)
            writer.member("kit", plugin.kit)
            writer.member("compiler", plugin.compiler)
            writer.member("isolation", plugin.isolation.rawValue)
            writer.member("path", plugin.path)
            writer.key("capabilities")
            writer.array { for capability in plugin.capabilities { writer.text(capability) } }
            writer.member("summary", plugin.summary)
            writer.member("options_schema", plugin.optionsSchema)
            writer.member("entity_schema", plugin.entitySchema)
            writer.member("refusal", plugin.refusal)
        }
    }
}

extension PluginListing {
    /// Whether it runs in a child process unless the configuration says otherwise.
    var runsInChild: Bool { isolation == .childProcess || origin != .shipped }
}
