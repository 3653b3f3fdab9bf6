/// `bmo plugins`: finding, explaining, installing, scaffolding and testing bridges, a file for each subcommand.
internal import ArgumentParser

/// `bmo plugins`.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "Show, explain and install bridges.",
        subcommands: [PluginsListCommand.self, PluginsInfoCommand.self, PluginsInstallCommand.self],
        defaultSubcommand: PluginsListCommand.self)
}
