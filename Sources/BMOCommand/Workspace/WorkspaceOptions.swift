internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Foundation
internal import Importer
internal import Logging
internal import Mapping
internal import Model
internal import StoreContract

/// The options of all commands that read a configuration.
struct WorkspaceOptions: ParsableArguments, Sendable {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The configuration file.", valueName: "path"))
    var file = "bmo.yml"

    @Flag(name: [.short, .long], help: "Write what the host and the bridges log to stderr.")
    var verbose = false

    @Flag(help: "Use plugins that bmo.lock does not pin, or whose files differ from the pinned ones.")
    var allowUnpinned = false

    @OptionGroup var log: LogOptions

    @Option(help: ArgumentHelp("The exchanges of a step of `bmo fixtures`.", valueName: "path", visibility: .private))
    var exchanges: String?

    /// The host, which logs to stderr.
    var host: BridgeHost {
        get throws { BridgeHost(logger: CommandLog.logger, pins: try pins()) }
    }

    /// Chooses the level of the log as soon as the options are known.
    func validate() throws {
        if file.isEmpty { throw ValidationError("--file names no file") }
        if verbose { CommandLog.beVerbose() }
    }

    /// Reads the plugin pins next to the configuration.
    func pins() throws -> PluginPins {
        let path = ConfigurationFile.directory(of: file) + "/bmo.lock"
        do {
            return try PluginPins(path: path, allowsOthers: allowUnpinned)
        } catch {
            throw CommandFailure(error.description, exitCode: CommandFailure.usage)
        }
    }

    /// Reads and parses the configuration's file, for a command that uses it several times.
    var configurationFile: ConfigurationFile { ConfigurationFile(path: file) }

    /// Loads and validates the configuration.
    ///
    /// - Parameters:
    ///   - file: The parsed file; nil to read it.
    ///   - toleratesRefusals: Whether an unusable plugin fails only the entities that use it.
    ///   - preloaded: The entities whose plugins start to load meanwhile.
    func workspace(
        _ file: ConfigurationFile? = nil, toleratesRefusals: Bool = false,
        preloading preloaded: Workspace.PreloadedEntities = .none
    ) async throws -> Workspace {
        let file = file ?? configurationFile
        guard let exchanges else {
            let workspace = try await Workspace.load(
                file, host: try host, stores: try Stores.chosen, toleratesRefusals: toleratesRefusals,
                preloading: preloaded)
            // The secrets have been read; remove them from the environment, where other processes could find them.
            workspace.takeSecrets()
            warnOfOpenTLS(workspace.configuration)
            return workspace
        }
        return try await replayed(file, by: try ExchangeSession(path: exchanges))
    }

    /// Learns the attributes of entities with `attributes: auto` and reports new ones; does nothing in a replay.
    func learnAttributes(_ file: ConfigurationFile) async throws {
        guard exchanges == nil else { return }
        for note in try await Workspace.learnAttributes(
            file, host: try host, stores: try Stores.chosen, takesSecrets: true)
        {
            Terminal.error(note, prefix: "bmo: note: ")
        }
    }

    /// Warns of disabled certificate verification, which lets an attacker read and forge traffic.
    ///
    /// The warning does not require `--verbose`.
    private func warnOfOpenTLS(_ configuration: Configuration) {
        for bridge in configuration.bridges where bridge.options["tls"]?["verify"]?.bool == false {
            Terminal.error(
                "bridge \(bridge.name): tls.verify is false: certificates are not checked", prefix: "bmo: warning: ",
                facts: ["bridge": "\(bridge.name)"])
        }
    }

    /// Loads the configuration with the exchanges of a case.
    private func replayed(_ file: ConfigurationFile, by session: ExchangeSession) async throws -> Workspace {
        var limits = BridgeLimits()
        limits.retries.passesAtOnce = session.mode == .replay
        let host = BridgeHost(
            logger: ExchangeLog.logger(over: CommandLog.logger, report: session.report), limits: limits,
            pins: try pins())
        return try await Workspace.load(file, host: host, stores: try Stores.chosen, session: session)
    }

    /// Opens the existing database for edits.
    func store(of workspace: Workspace) throws -> any Store {
        _ = try databasePath(of: workspace)
        return try workspace.openStoreForEdits(command: "bmo")
    }

    /// Opens the existing database for reading.
    ///
    /// - Parameter entities: The indexes of the entities to read; nil for all.
    func storeForReading(of workspace: Workspace, _ entities: [Int]? = nil) throws -> any Store {
        _ = try databasePath(of: workspace)
        return try workspace.openStoreForReading(of: entities)
    }

    /// Returns the path of the existing database.
    func databasePath(of workspace: Workspace) throws -> String {
        let path = workspace.configuration.databasePath
        guard workspace.stores.exists(path) else {
            throw CommandFailure(
                "there is no database \(path) yet; `bmo sync` creates it", exitCode: CommandFailure.usage)
        }
        return path
    }

    /// Returns the index of an entity named on the command line.
    ///
    /// - Parameter command: The command whose subcommand the user may have meant instead.
    static func entity(
        _ name: String, in workspace: Workspace, orOf command: (any ParsableCommand.Type)? = nil
    ) throws -> Int {
        if let index = workspace.model.index(of: name) { return index }
        let valid = workspace.configuration.model.entities.map(\.name)
        let hint = suggestion(for: name, among: valid, what: "entities").map { "; \($0)" } ?? ""
        let other = command.map { CommandLineMessages.hint(name, of: $0) } ?? ""
        throw CommandFailure("unknown entity \"\(name)\"\(hint)\(other)", exitCode: CommandFailure.usage)
    }
}
