internal import ArgumentParser
internal import BMO
internal import BridgeHost
internal import Foundation
internal import Importer
internal import Logging
internal import Mapping
internal import Model
internal import SQLiteStore

/// What all commands with a configuration take.
struct WorkspaceOptions: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The configuration file.", valueName: "path"))
    var file = "bmo.yml"

    @Flag(name: [.short, .long], help: "Write what the host and the bridges log to stderr.")
    var verbose = false

    @Flag(help: "Use plugins that bmo.lock does not pin, or that are not the files that it pins.")
    var allowUnpinned = false

    @Option(help: ArgumentHelp("The exchanges of a step of `bmo fixtures`.", valueName: "path", visibility: .private))
    var exchanges: String?

    /// The host, with its log on stderr.
    var host: BridgeHost {
        get throws { BridgeHost(logger: logger, pins: try pins()) }
    }

    /// The host's log, on stderr.
    var logger: Logger {
        var logger = Logger(label: "bmo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .error
        return logger
    }

    /// The plugins that are pinned beside the configuration.
    func pins() throws -> PluginPins {
        let path = URL(fileURLWithPath: file).deletingLastPathComponent().appendingPathComponent("bmo.lock").path
        do {
            return try PluginPins(path: path, allowsOthers: allowUnpinned)
        } catch {
            throw CommandFailure(error.description, exitCode: CommandFailure.usage)
        }
    }

    /// The checked configuration.
    ///
    /// - Parameter toleratesRefusals: Whether a plugin that can't be used is only the failure of what comes through it.
    func workspace(toleratesRefusals: Bool = false) async throws -> Workspace {
        guard let exchanges else {
            let workspace = try await Workspace.load(path: file, host: try host, toleratesRefusals: toleratesRefusals)
            warnOfOpenTLS(workspace.configuration)
            return workspace
        }
        return try await replayed(by: try ExchangeSession(path: exchanges))
    }

    /// Whoever reads along could send anything: that is told without `--verbose`, too.
    private func warnOfOpenTLS(_ configuration: Configuration) {
        for bridge in configuration.bridges where bridge.options["tls"]?["verify"]?.bool == false {
            Terminal.error(
                "bridge \(bridge.name): tls.verify is false: certificates are not checked", prefix: "bmo: warning: ")
        }
    }

    /// The configuration with the exchanges of a case.
    private func replayed(by session: ExchangeSession) async throws -> Workspace {
        var limits = BridgeLimits()
        limits.retries.passesAtOnce = session.mode == .replay
        let host = BridgeHost(
            logger: ExchangeLog.logger(over: logger, report: session.report), limits: limits, pins: try pins())
        return try await Workspace.load(path: file, host: host, session: session)
    }

    /// The database, which must be there, to edit it.
    func store(of workspace: Workspace) throws -> SQLiteStore {
        _ = try databasePath(of: workspace)
        return try workspace.openStoreForEdits(command: "bmo")
    }

    /// The database, which must be there, to read it.
    ///
    /// - Parameter entities: The entities, by their indexes, whose objects are to be read; nil for all.
    func storeForReading(of workspace: Workspace, _ entities: [Int]? = nil) throws -> SQLiteStore {
        _ = try databasePath(of: workspace)
        return try workspace.openStoreForReading(of: entities)
    }

    /// The path of the database, which must be there.
    func databasePath(of workspace: Workspace) throws -> String {
        let path = workspace.configuration.databasePath
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure("there is no database \(path) yet; `bmo sync` makes it")
        }
        return path
    }

    /// The index of an entity that was named on the command line.
    static func entity(_ name: String, in workspace: Workspace) throws -> Int {
        if let index = workspace.model.index(of: name) { return index }
        let valid = workspace.configuration.model.entities.map(\.name)
        let hint = suggestion(for: name, among: valid, what: "entities").map { "; \($0)" } ?? ""
        throw CommandFailure("unknown entity \"\(name)\"\(hint)", exitCode: CommandFailure.usage)
    }
}
