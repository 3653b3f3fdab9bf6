internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Model

/// `bmo check`.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate the configuration; all faults at once, each with its place.",
        discussion: """
            Bridges that can judge (REST) say what is wrong with their options and sections: paths, selectors, paging, \
            headers. Without --remote nothing is connected. With it, a bridge also holds each entity's section and \
            attributes against what the API says of itself (a WSDL: operations, elements, paths); no records are read.
            """)

    @OptionGroup var options: WorkspaceOptions

    @Flag(help: "Also connect to each bridge and authenticate.")
    var remote = false

    func run() async throws {
        let workspace = try await options.workspace()
        let configuration = workspace.configuration
        let (faults, unjudged) = await workspace.faults()
        guard faults.isEmpty else { throw ConfigurationErrors(diagnostics: faults) }
        for warning in configuration.warnings { Terminal.error(warning.description, prefix: "") }
        for bridge in unjudged {
            Terminal.error(
                "the sections of bridge \(bridge) were not judged by it: a secret is not there", prefix: "bmo: note: ")
        }
        print(
            "\(options.file): \(Terminal.count(configuration.bridges.count, "bridge", "bridges")), "
                + "\(Terminal.count(configuration.model.entities.count, "entity", "entities")), no faults")
        guard remote else { return }
        var hasFailed = false
        for bridge in configuration.bridges {
            do {
                let connection = try await workspace.connect(to: bridge)
                let isGood = try await connection.closing {
                    try await Self.check(bridge, over: connection, in: workspace)
                }
                hasFailed = hasFailed || !isGood
            } catch {
                hasFailed = true
                // A failure of a bridge names it itself.
                Terminal.error(error is BridgeFailure ? "\(error)" : "\(bridge.name): \(error)")
            }
        }
        if hasFailed { throw ExitCode(CommandFailure.failed) }
    }

    /// Tells what a bridge and its remote have against the configuration; false where an entity cannot be synced.
    private static func check(
        _ bridge: BridgeConfiguration, over connection: BridgeConnection, in workspace: Workspace
    ) async throws -> Bool {
        let words = connection.plugin.can("check") ? try await connection.check() : "cannot check"
        print("\(bridge.name): connected\(words.map { ": " + Terminal.printable($0) } ?? "")")
        var isGood = true
        for check in try await workspace.check(entitiesOf: bridge, over: connection) {
            for warning in check.warnings {
                Terminal.error("\(check.entity): \(Terminal.printable(warning))", prefix: "bmo: warning: ")
            }
            guard let failure = check.failure else { continue }
            isGood = false
            Terminal.error("\(check.entity): \(failure)")
        }
        return isGood
    }
}
