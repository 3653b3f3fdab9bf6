internal import ArgumentParser
internal import BMO
internal import BridgeConformance
internal import BridgeHost
internal import Foundation
internal import Model
internal import StoreContract

/// `bmo plugins test`.
struct PluginsTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Test whether a bridge keeps the contract.",
        discussion: """
            Reads conformance.yml: the config to use, the bridge, credentials that must fail, objects that may be \
            written, and the checks that are skipped, each with a reason. docs/conformance.md explains every check.
            Where a basic check fails, those of the higher levels are not tried. Exit code 1 when a check failed.
            """)

    @Argument(
        help: ArgumentHelp(
            "The library to test; default: the plugin that the config names.", valueName: "library"))
    var library: String?

    @Option(name: [.short, .long], help: ArgumentHelp("The settings.", valueName: "path"))
    var settings = "conformance.yml"

    @Option(help: "basic, full or strict; default: the level in the settings.")
    var level: String?

    @Option(
        help: ArgumentHelp(
            "The time limit of a check (30s, 5m); default: 300 s for each call of the bridge.", valueName: "duration"))
    var timeout: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(help: ArgumentHelp("Also write JUnit XML to this file.", valueName: "path"))
    var junit: String?

    @Flag(help: "List the checks and stop.")
    var list = false

    @OptionGroup var log: LogOptions

    func run() async throws {
        if list {
            let rows = ConformanceRun.catalog.map { [$0.id, $0.level.rawValue, $0.title] }
            print(Terminal.table(["check", "level", "what it asks"], rows))
            return
        }
        var settings: ConformanceSettings
        do {
            settings = try ConformanceSettings(path: self.settings)
        } catch {
            throw CommandFailure("\(error)", exitCode: CommandFailure.usage)
        }
        if let level {
            guard let known = ConformanceLevel(rawValue: level) else {
                throw ValidationError("--level is basic, full or strict, not \"\(level)\"")
            }
            settings.level = known
        }
        if let timeout {
            guard case .atMost(let time)? = LockWait(argument: timeout)?.timeout, time > .zero else {
                throw CommandFailure(
                    "the value \"\(timeout)\" of --timeout is not a duration; use a form like 30s, 5m or 1h",
                    exitCode: CommandFailure.usage)
            }
            settings.timeout = time
        }
        if let configuration = try? ConfigurationFile.load(path: settings.config) {
            Workspace.takeSecrets(configuration.secretVariables)
        }
        let report: ConformanceReport
        do {
            let run = try await ConformanceRun(
                settings, stores: try Stores.chosen, searchPaths: try searchPaths())
            report = await run.run { [json] result in
                if !json { Terminal.error(Terminal.printable(result.line), prefix: "") }
            }
        } catch let error as BridgeFailure {
            throw CommandFailure("\(error)", exitCode: CommandFailure.usage)
        } catch let fault as ConformanceSettings.Fault {
            throw CommandFailure(fault.description, exitCode: CommandFailure.usage)
        }
        print(json ? report.json : report.summary)
        if let junit {
            do {
                try Data(report.junit.utf8).write(to: URL(fileURLWithPath: junit), options: .atomic)
            } catch {
                throw CommandFailure("\(junit) cannot be written: \(error)")
            }
        }
        if !report.passed { throw ExitCode(CommandFailure.failed) }
    }

    /// Returns search paths that start with the folder of the named library.
    private func searchPaths() throws -> [SearchPath]? {
        guard let library else { return nil }
        let path = URL(fileURLWithPath: library).resolvingSymlinksInPath().path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure("there is no file \(library)", exitCode: CommandFailure.usage)
        }
        return [SearchPath(URL(fileURLWithPath: path).deletingLastPathComponent().path)]
    }
}
