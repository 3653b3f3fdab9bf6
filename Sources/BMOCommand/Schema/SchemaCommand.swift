internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Model
internal import StoreContract

/// `bmo schema`.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the tables as SQL, or the JSON Schema of the configuration.")

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "Print the JSON Schema of bmo.yml, with the installed plugins, for editors.")
    var config = false

    func run() async throws {
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
