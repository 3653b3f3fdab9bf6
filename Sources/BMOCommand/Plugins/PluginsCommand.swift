/// `bmo plugins`: finds, explains, installs, scaffolds and tests bridges, with a file for each subcommand.
internal import ArgumentParser

/// `bmo plugins`.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "List, explain, install, test and create bridges.",
        subcommands: [
            PluginsListCommand.self, PluginsInfoCommand.self, PluginsInstallCommand.self, PluginsTestCommand.self,
            PluginsNewCommand.self,
        ],
        defaultSubcommand: PluginsListCommand.self)
}
