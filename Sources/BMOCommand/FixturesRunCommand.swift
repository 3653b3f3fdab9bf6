internal import ArgumentParser
internal import BridgeConformance
internal import Foundation
internal import Model

/// `bmo fixtures run`.
struct FixturesRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Replay cases, and compare what they come to with what is expected.",
        discussion: """
            Nothing is connected, no secret is needed, and pauses pass at once. What differs is told by entity, key and \
            column; of a request that was not recorded, the nearest that was, and one that writes always fails the \
            case. Faults come from the case's faults.yml.

            Exit code 0 when all cases pass, 1 when one fails, 2 when one cannot be run.
            """)

    @OptionGroup var folder: FixtureFolder

    @Argument(help: ArgumentHelp("Names or folders; all cases when none is named.", valueName: "case"))
    var names: [String] = []

    @Flag(help: "Write what was found into expected.txt.")
    var update = false

    @Flag(help: "Fail on an exchange that is not used, or that is asked for and was not recorded.")
    var strict = false

    /// So many differences of a case are shown.
    private static let most = 40

    func run() async throws {
        let cases = try folder.cases(names)
        var failed = 0
        for fixture in cases {
            let result: FixtureRun.Result
            do {
                result = try await FixtureRun(
                    fixture, executable: FixtureFolder.executable, strict: strict, updates: update
                ).run()
            } catch let fault as FixtureCase.Fault {
                throw CommandFailure(fault.description, exitCode: CommandFailure.usage)
            }
            if !result.passed { failed += 1 }
            let word = !result.passed ? "FAIL" : result.wasUpdated ? "new " : "pass"
            print("\(word)  \(result.name): \(Terminal.printable(result.purpose))")
            let lines = result.problems + (result.passed ? [] : result.notes)
            for line in lines.prefix(Self.most) { print("      \(Terminal.printable(line))") }
            if lines.count > Self.most { print("      and \(lines.count - Self.most) more") }
        }
        print("\(Terminal.count(cases.count, "case", "cases")), \(failed) failed")
        if failed > 0 {
            Terminal.error(
                "look at the differences; if they are right, `bmo fixtures run --update` writes them into expected.txt",
                prefix: "bmo: note: ")
            throw ExitCode(CommandFailure.failed)
        }
    }
}
