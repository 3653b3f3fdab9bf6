internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Model
internal import StoreContract
internal import SwiftModels

/// `bmo schema`.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the tables as SQL, Swift types for the entities, or the JSON Schema of the configuration.",
        discussion: """
            With --swift this prints a struct for each entity, for programs that embed the library BMO. The compiler then \
            checks the names and types in queries and edits. The plugins need not be installed.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "Print the JSON Schema of bmo.yml, with the installed plugins, for editors.")
    var config = false

    @Flag(help: "Print Swift types for the entities.")
    var swift = false

    @Flag(name: .customLong("public"), help: "With --swift: make the types public.")
    var isPublic = false

    func validate() throws {
        if config, swift { throw ValidationError("--config and --swift exclude each other") }
        if isPublic, !swift { throw ValidationError("--public needs --swift") }
    }

    func run() async throws {
        if swift {
            let file = options.configurationFile
            let name = options.file.split(separator: "/").last.map(String.init) ?? options.file
            let model = try file.configuration().model
            print(try SwiftModels(model, of: name, access: isPublic ? .public : .internal).source, terminator: "")
            return
        }
        if config {
            let plugins = try await options.host.plugins().filter { $0.refusal == nil }.map {
                PluginSchema(name: $0.name, optionsSchema: $0.optionsSchema, entitySchema: $0.entitySchema)
            }
            print(ConfigurationSchema.json(plugins: plugins))
        } else {
            let workspace = try await options.workspace()
            print(workspace.stores.schema(of: workspace.model).joined(separator: "\n\n"))
        }
    }
}
