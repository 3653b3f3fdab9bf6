internal import ArgumentParser
internal import BridgeConformance
internal import BridgeHost
internal import Foundation
internal import Model

/// `bmo fixtures record`.
struct FixturesRecordCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Sync from the live remotes, and write their replies as a case.",
        discussion: """
            The database of the configuration is not touched. Secrets of the configuration and tokens are removed; \
            anything else that looks like a secret is reported, so look before you commit. The case is then replayed, \
            which writes the expected result.

            With --add a step is added to the case: its existing steps are replayed first, then the new one runs \
            against the remote. So change the remote in between, and a second sync shows what an incremental sync \
            requests.

                bmo fixtures record countries --config bmo.yml
                bmo fixtures record countries --config bmo.yml --add sync

            A recording whose replay contradicts the remote proves nothing: it is not written, except with --keep, and \
            the exit code is 1.

            Exit code 0 when the case was written, 1 when its replay contradicts it, 2 when nothing could be recorded.
            """)

    @OptionGroup var folder: FixtureFolder

    @Argument(help: ArgumentHelp("The case: a name, or a folder.", valueName: "case"))
    var name: String

    @Argument(help: ArgumentHelp("The entities to sync; all when none is named.", valueName: "entity"))
    var entities: [String] = []

    @Option(
        name: [.customShort("f"), .long, .customLong("file")],
        help: ArgumentHelp("The configuration.", valueName: "path"))
    var config = "bmo.yml"

    @Option(
        help: ArgumentHelp(
            "Add this command as a further step, such as \"sync\"; quotes are read as in a shell.",
            valueName: "command"))
    var add: String?

    @Option(help: ArgumentHelp("What the case proves, in one line, for its README.", valueName: "text"))
    var proves: String?

    @Flag(help: "Record an existing case again.")
    var force = false

    @Flag(help: "Write the case even if its replay contradicts the recording.")
    var keep = false

    func validate() throws {
        if add != nil, !entities.isEmpty {
            throw ValidationError(
                "--add takes the whole command, such as --add \"sync \(entities.joined(separator: " "))\"")
        }
    }

    func run() async throws {
        do {
            let path = try folder.newPath(of: name)
            let step = try add.map(CommandWords.split) ?? ["sync"] + entities
            guard !step.isEmpty else { throw ValidationError("--add names no command") }
            let recording = FixtureRecording(
                folder: path, config: config, stores: try Stores.chosen, executable: FixtureFolder.executable)
            let result = try await recording.record(
                step, adds: add != nil, replaces: force, keeps: keep, purpose: proves)
            if result.isKept { print("\(path): \(Terminal.count(result.exchanges, "exchange", "exchanges"))") }
            for line in result.lines { print("  \(Terminal.printable(line))") }
            for warning in result.warnings { Terminal.error(Terminal.printable(warning), prefix: "bmo: warning: ") }
            guard !result.contradictions.isEmpty else { return }
            for words in result.contradictions { Terminal.error(Terminal.printable(words), prefix: "bmo: ") }
            throw CommandFailure(
                "the case \(name) contradicts what was recorded"
                    + (result.isKept ? "; it was written anyway" : " and was not written; --keep writes it"),
                exitCode: CommandFailure.failed)
        } catch let fault as FixtureCase.Fault {
            throw CommandFailure(fault.description, exitCode: CommandFailure.usage)
        }
    }
}
