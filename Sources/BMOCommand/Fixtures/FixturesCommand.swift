internal import ArgumentParser
internal import BridgeConformance
internal import BridgeHost
internal import Foundation
internal import Importer
internal import Model

/// `bmo fixtures`.
struct FixturesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixtures",
        abstract: "Record what a remote replies, and replay it without a network.",
        discussion: """
            A case is a folder: a configuration, the recorded exchanges as text, and the expected rows. `bmo fixtures \
            record` writes one, `bmo fixtures run` replays all and shows what differs. docs/fixtures.md is the guide.
            """,
        subcommands: [FixturesRunCommand.self, FixturesRecordCommand.self, FixturesListCommand.self],
        defaultSubcommand: FixturesListCommand.self)
}

/// The location of the cases.
struct FixtureFolder: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the cases.", valueName: "path"))
    var cases = "Fixtures/cases"

    @OptionGroup var log: LogOptions

    /// Returns the folder of a case, given by a path or by a name in the cases' folder.
    func path(of name: String) -> String { name.contains("/") ? name : cases + "/" + name }

    /// Returns the folder in which to record a case.
    func newPath(of name: String) throws -> String {
        let folder = URL(fileURLWithPath: path(of: name)).standardizedFileURL.path
        let all = URL(fileURLWithPath: cases).standardizedFileURL.path
        guard !name.isEmpty, ![".", ".."].contains(name), ![all, "/"].contains(folder),
            !(all + "/").hasPrefix(folder + "/")
        else {
            throw CommandFailure(
                "\"\(Terminal.printable(name))\" is not a name for a case; name a folder of its own in \(cases), or a path",
                exitCode: CommandFailure.usage)
        }
        return path(of: name)
    }

    /// Returns the folders of the named cases, or of all cases.
    func paths(_ names: [String]) throws -> [String] {
        guard names.isEmpty else { return names.map(path) }
        let all = FixtureCase.all(in: cases)
        guard !all.isEmpty else {
            throw CommandFailure(
                "there are no cases in \(cases); `bmo fixtures record CASE` creates one, --cases names another folder",
                exitCode: CommandFailure.usage)
        }
        return all
    }

    /// Reads the named cases, or all cases.
    func cases(_ names: [String]) throws -> [FixtureCase] {
        try paths(names).map { path in
            do {
                return try FixtureCase(folder: path)
            } catch {
                let known = FixtureCase.all(in: cases).map { URL(fileURLWithPath: $0).lastPathComponent }
                let name = URL(fileURLWithPath: path).lastPathComponent
                let hint = suggestion(for: name, among: known, what: "cases").map { "; \($0)" } ?? ""
                throw CommandFailure("\(error)\(hint)", exitCode: CommandFailure.usage)
            }
        }
    }

    static var executable: String { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path }
}

/// `bmo fixtures list`.
struct FixturesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the cases with what each proves.")

    @OptionGroup var folder: FixtureFolder

    func run() async throws {
        let cases = try folder.cases([])
        for fixture in cases { print("\(fixture.name): \(Terminal.printable(fixture.purpose))") }
    }
}
