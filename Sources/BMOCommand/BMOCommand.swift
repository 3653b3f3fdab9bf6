/// The command line: `bmo` and its subcommands. Results go to stdout, diagnostics and progress to stderr.
public import ArgumentParser
internal import BridgeHost
internal import Foundation
internal import Importer
internal import Model

/// The command `bmo`.
public struct BMOCommand: AsyncParsableCommand {
    /// How the argument parser shows the command.
    public static let configuration = CommandConfiguration(
        commandName: "bmo",
        abstract: "Keep a relational, offline SQLite copy of any API.",
        discussion: """
            A bmo.yml says which entity comes from which bridge (REST, SOAP, SMB or your own).
            `bmo init` writes one, `bmo check` validates it, `bmo sync` brings the records.

            Exit codes: 0 all well, 1 something failed (the rest is done), 2 usage or configuration, 130 interrupted
            (143 by SIGTERM).
            """,
        version: Version.text,
        subcommands: [
            InitCommand.self, IntrospectCommand.self, CheckCommand.self, PlanCommand.self, SyncCommand.self,
            ListCommand.self, GetCommand.self, CreateCommand.self, UpdateCommand.self, DeleteCommand.self,
            PushCommand.self, OutboxCommand.self, ConflictsCommand.self, ResolveCommand.self, WatchCommand.self,
            StatusCommand.self, WhyCommand.self, RunsCommand.self, DiffCommand.self, UndoCommand.self,
            QuarantineCommand.self, SchemaCommand.self, MigrateCommand.self, PluginsCommand.self, SwapCommand.self,
            FixturesCommand.self,
        ])

    /// A command without arguments.
    public init() {}

    /// Runs the command line of this process, and ends it with the right exit code.
    ///
    /// Call it from a `main` that is not async: a process that serves a bridge closes all descriptors that it does not
    /// know, and those of a concurrency runtime that is up already are among them.
    public static func start() -> Never {
        BridgeHost.serveIfAsked()
        Task { await run() }
        dispatchMain()
    }

    private static func run() async -> Never {
        do {
            var command = try parseAsRoot(NegativeKey.marked(Array(CommandLine.arguments.dropFirst())))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            if let reason = Terminal.flushOutput() { throw CommandFailure("the output cannot be written: \(reason)") }
            Foundation.exit(0)
        } catch let failure as CommandFailure {
            Terminal.error(failure.message)
            Foundation.exit(failure.exitCode)
        } catch let error as StoreError {
            Terminal.error(error.description)
            // The config and the database do not fit each other, or the database is not one.
            let isUsage = [.open, .schema, .request].contains(error.code)
            Foundation.exit(isUsage ? CommandFailure.usage : CommandFailure.failed)
        } catch let errors as ConfigurationErrors {
            Terminal.error(errors.diagnostics.map(\.description).joined(separator: "\n"), prefix: "")
            Foundation.exit(2)
        } catch {
            let code = exitCode(for: error)
            guard code != .success else {
                print(fullMessage(for: error))
                Foundation.exit(0)
            }
            let isUsage = code == .validationFailure
            Terminal.error(
                isUsage ? fullMessage(for: error) : message(for: error), prefix: isUsage ? "" : "bmo: error: ")
            Foundation.exit(isUsage || code.rawValue == CommandFailure.usage ? 2 : 1)
        }
    }
}

/// The version of the program.
enum Version {
    static let text = "0.1.0"
}

/// A failure with its exit code.
struct CommandFailure: Error, CustomStringConvertible {
    /// Something failed.
    static let failed: Int32 = 1
    /// The command line or the configuration is wrong.
    static let usage: Int32 = 2
    let message: String
    let exitCode: Int32

    init(_ message: String, exitCode: Int32 = CommandFailure.failed) {
        self.message = message
        self.exitCode = exitCode
    }

    /// A file that is to be written and cannot be.
    init(unwritable path: String, _ error: any Error) {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        let reason =
            switch (cause.domain, cause.code) {
            case (NSPOSIXErrorDomain, let code): String(cString: strerror(CInt(truncatingIfNeeded: code)))
            case (NSCocoaErrorDomain, CocoaError.fileNoSuchFile.rawValue),
                (NSCocoaErrorDomain, CocoaError.fileReadNoSuchFile.rawValue):
                "its folder is not there"
            default: cause.localizedDescription
            }
        self.init("\(path) cannot be written: \(reason); check that its folder is there and can be written")
    }

    var description: String { message }
}
