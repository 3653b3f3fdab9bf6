internal import ArgumentParser
internal import BridgeHost
internal import Foundation

/// `bmo plugins info`.
struct PluginsInfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Explain a bridge: what it can do, its options, and an entity's section.")

    @OptionGroup var options: WorkspaceOptions

    @Argument(help: ArgumentHelp("A bridge's name, or the path of a library.", valueName: "plugin"))
    var name: String

    @Flag(help: "Print a JSON object.")
    var json = false

    func run() async throws {
        let host = try options.host
        print(try await Self.explanation(of: name, host, json: json))
    }

    /// Finds a plugin by its name, or by its file if the name contains a `/`.
    static func plugin(_ name: String, _ host: BridgeHost) async throws -> PluginListing {
        guard name.contains("/") else {
            do {
                return try await host.plugin(named: name)
            } catch {
                throw CommandFailure("\(error)", exitCode: CommandFailure.usage)
            }
        }
        let listing = await host.inspect(path: URL(fileURLWithPath: name).path)
        if let refusal = listing.refusal {
            throw CommandFailure("\(name) is not a bridge: \(refusal)", exitCode: CommandFailure.usage)
        }
        return listing
    }

    static func explanation(of name: String, _ host: BridgeHost, json: Bool) async throws -> String {
        let plugin = try await plugin(name, host)
        return json ? PluginsListCommand.json(plugin) : explanation(plugin)
    }

    private static func explanation(_ plugin: PluginListing) -> String {
        """
        \(plugin.name) \(plugin.version) (ABI \(plugin.abi)): \(Terminal.printable(plugin.summary))
        can: \(plugin.capabilities.joined(separator: ", "))
        runs: \(plugin.runsInChild ? "in a child process" : "in process"); file: \(plugin.path)

        under `bridges: NAME: options:`
        \(members(plugin.optionsSchema))

        under `entities: NAME: \(plugin.name):`
        \(members(plugin.entitySchema))
        """
    }

    /// Lists the members of a JSON Schema, one per line: name, type, purpose.
    private static func members(_ schema: String, indent: String = "  ") -> String {
        guard let object = try? JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any] else {
            return indent + "(the plugin's schema is not a JSON object)"
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
            if let value = member["default"] {
                // Foundation prints booleans as numbers.
                notes.append(
                    "default \(member["type"] as? String == "boolean" ? "\(value as? Bool ?? false)" : "\(value)")")
            }
            let words = (member["description"] as? String).map { " - " + Terminal.printable($0) } ?? ""
            return ["\(indent)\(name) (\(notes.joined(separator: ", ")))\(words)"]
                + lines(member, indent: indent + "  ")
        }
    }
}
