/// The command line: `bmo` and its subcommands. Results go to stdout, diagnostics and progress to stderr.
public import StoreContract
public import ArgumentParser
internal import BridgeHost
internal import Foundation
internal import Importer
internal import Logging
internal import Model
internal import TextFormats

/// The `bmo` command.
public struct BMOCommand: AsyncParsableCommand {
    /// The command's description for the argument parser.
    public static let configuration = CommandConfiguration(
        commandName: "bmo",
        abstract: "Keep a relational, offline SQLite copy of any API.",
        discussion: """
            A bmo.yml says which entity comes from which bridge (REST, SOAP, SMB or your own).
            `bmo init` writes one, `bmo check` validates it, `bmo sync` fetches the records.

            Commands that read a configuration take -f FILE for one that is not ./bmo.yml. --json prints JSON to stdout \
            in place of text: an array for a list, an object for one thing. A command that runs for a while (sync, work, \
            push, watch, swap --dry-run) prints one object per line, with the report last.

            Exit codes: 0 success, 1 something failed (the rest is done), 2 wrong usage or configuration, 130 interrupted
            (143 by SIGTERM, 129 by SIGHUP).
            """,
        version: ProgramVersion.text,
        subcommands: [
            InitCommand.self, ConnectorsCommand.self, IntrospectCommand.self, CheckCommand.self, PlanCommand.self,
            SyncCommand.self,
            WorkCommand.self, ListCommand.self, GetCommand.self, CreateCommand.self, UpdateCommand.self,
            DeleteCommand.self,
            PushCommand.self, OutboxCommand.self, ConflictsCommand.self, ResolveCommand.self, WatchCommand.self,
            ServeCommand.self,
            StatusCommand.self, WhyCommand.self, RunsCommand.self, DiffCommand.self, UndoCommand.self,
            QuarantineCommand.self, SchemaCommand.self, MigrateCommand.self, CopyCommand.self, PluginsCommand.self,
            SwapCommand.self, FixturesCommand.self, DoctorCommand.self, VersionCommand.self,
        ])

    /// Creates a command without arguments.
    public init() {}

    /// Runs this process's command line and exits with its exit code.
    ///
    /// Call it from a `main` that is not async. A process that serves a bridge closes all unknown descriptors,
    /// including those of a running concurrency runtime.
    ///
    /// - Parameter stores: The kind of database that configurations name.
    public static func start(stores: any StoreProvider) -> Never {
        Stores.choose(stores)
        BridgeHost.serveIfAsked()
        BridgeHost.keepOthersOut()
        BridgeHost.keepFreedMemory()
        OpenFileLimit.raise()
        CommandEnd.waitForReaders()
        Task { await run() }
        dispatchMain()
    }

    private static func run() async -> Never {
        CommandLog.choose(from: Array(CommandLine.arguments.dropFirst()))
        do {
            let words = try CommandLineMessages(Array(CommandLine.arguments.dropFirst()), of: Self.self)
            var command = try parseAsRoot(NegativeKey.marked(words.arguments))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            if let reason = Terminal.flushOutput() { throw CommandFailure("the output cannot be written: \(reason)") }
            await CommandEnd.end(0)
        } catch let failure as CommandFailure {
            Terminal.error(failure.message)
            await CommandEnd.end(failure.exitCode)
        } catch let error as StoreError {
            Terminal.error(error.description)
            // The configuration does not fit the database, or the file is not a database.
            let isUsage = [.open, .schema, .request].contains(error.code)
            await CommandEnd.end(isUsage ? CommandFailure.usage : CommandFailure.failed)
        } catch let errors as ConfigurationErrors {
            for diagnostic in errors.diagnostics { Terminal.show(diagnostic) }
            await CommandEnd.end(2)
        } catch {
            let code = exitCode(for: error)
            guard code != .success else {
                print(fullMessage(for: error))
                await CommandEnd.end(0)
            }
            let isUsage = code == .validationFailure
            Terminal.error(
                isUsage ? fullMessage(for: error) : message(for: error), prefix: isUsage ? "" : "bmo: error: ",
                level: .error)
            await CommandEnd.end(isUsage || code.rawValue == CommandFailure.usage ? 2 : 1)
        }
    }
}
