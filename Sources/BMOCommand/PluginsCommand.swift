internal import ArgumentParser
internal import BridgeHost
internal import Foundation
internal import RecordBatch

/// `bmo plugins`.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Show the bridges that were found, and those that were refused, with the reason.",
        discussion: """
            Bridges are looked for beside the executable, in ../lib/bmo/bridges, and in the folders of BMO_PLUGIN_PATH. \
            With a name, the options of that bridge and of an entity's section are explained.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("Explain this bridge.", valueName: "plugin"))
    var name: String?

    @Flag(help: "Print a JSON array of objects.")
    var json = false

    func run() async throws {
        if let name {
            let plugin: PluginListing
            do {
                plugin = try await options.host.plugin(named: name)
            } catch {
                throw CommandFailure("\(error)", exitCode: CommandFailure.usage)
            }
            print(Self.explanation(plugin))
            return
        }
        let plugins = await options.host.plugins()
        if json {
            var printer = JSONArrayPrinter()
            for plugin in plugins { printer.add(Self.json(plugin)) }
            printer.finish()
            return
        }
        let rows = plugins.filter { $0.refusal == nil }.map {
            [
                $0.name, $0.version, $0.abi, $0.isolation == .childProcess ? "child process" : "in process",
                $0.capabilities.joined(separator: " "),
            ]
        }
        print(Terminal.table(["plugin", "version", "ABI", "runs", "can"], rows))
        for plugin in plugins where plugin.refusal == nil { print("\(plugin.name): \(plugin.path)") }
        for plugin in plugins {
            if let refusal = plugin.refusal { print("refused: \(plugin.path): \(Terminal.printable(refusal))") }
        }
    }

    private static func json(_ plugin: PluginListing) -> String {
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
            writer.member("refusal", plugin.refusal)
        }
    }

    private static func explanation(_ plugin: PluginListing) -> String {
        """
        \(plugin.name) \(plugin.version) (ABI \(plugin.abi)): \(Terminal.printable(plugin.summary))
        can: \(plugin.capabilities.joined(separator: ", "))

        under `bridges: NAME: options:`
        \(members(plugin.optionsSchema))

        under `entities: NAME: \(plugin.name):`
        \(members(plugin.entitySchema))
        """
    }

    /// The members of a JSON Schema, one a line: name, type, what it is for.
    private static func members(_ schema: String, indent: String = "  ") -> String {
        guard let object = try? JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any] else {
            return indent + "(the plugin's schema is no JSON object)"
        }
        return lines(object, indent: indent).joined(separator: "\n")
    }

    private static func lines(_ schema: [String: Any], indent: String) -> [String] {
        let properties = schema["properties"] as? [String: Any] ?? [:]
        let required = schema["required"] as? [String] ?? []
        return properties.keys.sorted().flatMap { name -> [String] in
            let member = properties[name] as? [String: Any] ?? [:]
            var notes: [String] = []
            if let values = member["enum"] as? [Any] {
                notes.append(values.map { "\($0)" }.joined(separator: " | "))
            } else if let type = member["type"] as? String {
                notes.append(type)
            }
            if required.contains(name) { notes.append("required") }
            if member["writeOnly"] as? Bool == true { notes.append("secret: {env: NAME} or {file: PATH}") }
            if let value = member["default"] { notes.append("default \(value)") }
            let words = (member["description"] as? String).map { " - " + Terminal.printable($0) } ?? ""
            return ["\(indent)\(name) (\(notes.joined(separator: ", ")))\(words)"]
                + lines(member, indent: indent + "  ")
        }
    }
}
