/// `bmo plugins`: finding, explaining, installing, scaffolding and testing bridges, a file for each subcommand.
internal import ArgumentParser

/// `bmo plugins`.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "Show, explain, install and test bridges.",
        subcommands: [
            PluginsListCommand.self, PluginsInfoCommand.self, PluginsInstallCommand.self, PluginsTestCommand.self,
        ],
        defaultSubcommand: PluginsListCommand.self)
}
