internal import ArgumentParser
internal import BridgeConformance
internal import Foundation
internal import Model

/// `bmo fixtures run`.
struct FixturesRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Replay cases, and compare the results with the expected ones.",
        discussion: """
            No connection is made, no secret is needed, and pauses are skipped. Differences are reported by entity, \
            key and column; for a request that was not recorded, the nearest recorded one is shown, and a request that \
            writes always fails the case. Faults come from the case's faults.yml.

            Exit code 0 when all cases pass, 1 when one fails, 2 when one cannot be run.
            """)

    @OptionGroup var folder: FixtureFolder

    @Argument(help: ArgumentHelp("Names or folders; all cases when none is named.", valueName: "case"))
    var names: [String] = []

    @Flag(help: "Write the results into expected.txt.")
    var update = false

    @Flag(help: "Fail on an exchange that is unused, or that is requested but was not recorded.")
    var strict = false

    /// The maximum number of differences shown per case.
    private static let most = 40

    func run() async throws {
        let cases = try folder.cases(names)
        var failed = 0
        var faults: [String] = []
        // Each case has its own processes and database, and mostly waits for them.
        try await inOrder(cases) { (outcome: Result<FixtureRun.Result, any Error>) in
            switch outcome {
            case .success(let result):
                show(result)
                if !result.passed { failed += 1 }
            case .failure(let fault as FixtureCase.Fault):
                faults.append(fault.description)
            case .failure(let error): throw error
            }
        }
        let rest = faults.isEmpty ? "" : ", \(faults.count) cannot be run"
        print("\(Terminal.count(cases.count, "case", "cases")), \(failed) failed\(rest)")
        if failed > 0 {
            Terminal.error(
                "look at the differences; if they are right, `bmo fixtures run --update` writes them into expected.txt",
                prefix: "bmo: note: ")
        }
        guard faults.isEmpty else {
            throw CommandFailure(faults.joined(separator: "\n"), exitCode: CommandFailure.usage)
        }
        if failed > 0 { throw ExitCode(CommandFailure.failed) }
    }

    /// The outcome of the case at an index.
    private struct Ending: Sendable {
        let index: Int
        let outcome: Result<FixtureRun.Result, any Error>
    }

    /// Replays several cases at a time and passes on their outcomes in order.
    private func inOrder(
        _ cases: [FixtureCase], _ take: (Result<FixtureRun.Result, any Error>) throws -> Void
    ) async throws {
        let stores = try Stores.chosen
        try await withThrowingTaskGroup(of: Ending.self) { group in
            var next = 0
            var shown = 0
            var outcomes: [Int: Result<FixtureRun.Result, any Error>] = [:]
            func start() {
                guard next < cases.count else { return }
                let run = FixtureRun(
                    cases[next], stores: stores, executable: FixtureFolder.executable, strict: strict, updates: update)
                group.addTask { [next] in
                    do {
                        let result = try await run.run()
                        return Ending(index: next, outcome: .success(result))
                    } catch {
                        return Ending(index: next, outcome: .failure(error))
                    }
                }
                next += 1
            }
            for _ in 0..<min(8, max(2, ProcessInfo.processInfo.activeProcessorCount)) { start() }
            while let ending = try await group.next() {
                outcomes[ending.index] = ending.outcome
                start()
                while let outcome = outcomes.removeValue(forKey: shown) {
                    try take(outcome)
                    shown += 1
                }
            }
        }
    }

    private func show(_ result: FixtureRun.Result) {
        let word = !result.passed ? "FAIL" : result.wasUpdated ? "new " : "pass"
        print("\(word)  \(result.name): \(Terminal.printable(result.purpose))")
        let lines = result.problems + (result.passed ? [] : result.notes)
        for line in lines.prefix(Self.most) { print("      \(Terminal.printable(line))") }
        if lines.count > Self.most { print("      and \(lines.count - Self.most) more") }
    }
}
