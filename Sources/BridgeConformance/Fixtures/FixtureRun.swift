/// Fixtures: cases that replay what a remote once said, without a network, and compare what comes of it.
internal import BMO
internal import Foundation

/// Replays one case.
///
/// ```swift
/// let result = try await FixtureRun(FixtureCase(folder: "Fixtures/cases/rest-paging"), executable: bmo).run()
/// #expect(result.problems.isEmpty)
/// ```
public struct FixtureRun: Sendable {
    private let fixture: FixtureCase
    private let executable: String
    private let isStrict: Bool
    private let updates: Bool

    /// What a replay came to.
    public struct Result: Sendable {
        /// The case's name.
        public var name: String
        /// What it proves.
        public var purpose: String
        /// What is not as it should be, a line each; empty for a case that passes.
        public var problems: [String] = []
        /// What a person may want to know of a case that passes.
        public var notes: [String] = []
        /// Whether `expected.txt` was written.
        public var wasUpdated = false

        /// Whether all is as expected.
        public var passed: Bool { problems.isEmpty }
    }

    /// - Parameters:
    ///   - fixture: The case.
    ///   - executable: The command `bmo`, which runs the steps.
    ///   - strict: Whether an exchange that is not used, or asked for although it was not recorded, is a problem.
    ///   - updates: Whether `expected.txt` is written anew.
    public init(_ fixture: FixtureCase, executable: String, strict: Bool = false, updates: Bool = false) {
        self.fixture = fixture
        self.executable = executable
        isStrict = strict
        self.updates = updates
    }

    /// Runs all steps and compares.
    ///
    /// - Throws: ``FixtureCase/Fault`` when the case cannot be run.
    public func run() async throws -> Result {
        var result = Result(name: fixture.name, purpose: fixture.purpose)
        let faults = try FaultFile(path: fixture.folder + "/faults.yml")
        let direct = (try? FileManager.default.contentsOfDirectory(atPath: fixture.folder + "/exchanges")) ?? []
        guard fixture.steps.count == 1 || !direct.contains(where: { $0.hasSuffix(".http") }) else {
            throw FixtureCase.Fault(
                "\(fixture.name) has \(fixture.steps.count) steps: move what is in exchanges/ to exchanges/1/, or remove case.yml"
            )
        }
        let runner = try StepRunner(executable: executable)
        var outcome = FixtureOutcome()
        var injected: Set<Int> = []
        for (index, step) in fixture.steps.enumerated() {
            let ending = try await replay(step, index, faults, runner)
            outcome.sections.append(
                FixtureOutcome.Section(
                    title: "step \(index + 1): \(step.joined(separator: " "))", lines: ending.lines(step),
                    isTable: false))
            injected.formUnion(
                ending.notes.filter { $0.hasPrefix("fault ") }.compactMap { Int($0.split(separator: " ").last ?? "") })
            judge(ending, step: index, into: &result)
        }
        for (index, rule) in faults.rules.enumerated() where !injected.contains(index) {
            result.problems.append("faults.yml: the fault on \(rule.words) never happened: nothing was asked there")
        }
        try outcome.addTables(of: runner, config: fixture.config)
        try compare(outcome, &result)
        return result
    }

    func replay(
        _ step: [String], _ index: Int, _ faults: FaultFile, _ runner: StepRunner
    ) async throws -> StepRunner.Ending {
        var session = ExchangeSession(mode: .replay, folder: fixture.exchanges(index), report: "", database: "")
        session.recorded = fixture.recorded
        session.values = fixture.values
        session.faults = faults.rules(of: index).map(\.value)
        let ending = try await runner.run(step, config: fixture.config, session: session, directory: fixture.folder)
        guard step.first != "sync" || ending.report != nil else {
            throw FixtureCase.Fault(
                "\(fixture.name), step \(index + 1): bmo \(step.joined(separator: " ")) ended with \(ending.exitCode):\n"
                    + ending.errors.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return ending
    }

    /// What a step asked for and what it left.
    private func judge(_ ending: StepRunner.Ending, step: Int, into result: inout Result) {
        let place = fixture.steps.count == 1 ? "" : "step \(step + 1): "
        let hadFaults = ending.notes.contains { $0.hasPrefix("fault ") }
        var used: Set<String> = []
        var words: [String] = []
        for note in ending.notes {
            let parts = note.split(separator: " ", maxSplits: 1).map(String.init)
            switch parts.first {
            case "used": used.insert(parts[1])
            case "again" where !hadFaults: words.append("\(place)\(parts[1]) was asked for again")
            case "unmatched": words.append("\(place)unexpected: \(parts[1])")
            default: break
            }
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fixture.exchanges(step))) ?? []
        for name in names.sorted() where name.hasSuffix(".http") && !used.contains(name) {
            words.append("\(place)unused: \(name) was recorded, and nobody asked for it")
        }
        if isStrict { result.problems += words } else { result.notes += words }
    }

    private func compare(_ outcome: FixtureOutcome, _ result: inout Result) throws {
        let found = outcome.text
        let known = try? String(contentsOfFile: fixture.expected, encoding: .utf8)
        if updates {
            guard known != found else { return }
            try Data(found.utf8).write(to: URL(fileURLWithPath: fixture.expected), options: .atomic)
            result.wasUpdated = true
            return
        }
        guard let known else {
            result.problems.append("there is no expected.txt; `bmo fixtures run \(fixture.name) --update` writes it")
            return
        }
        guard known != found else { return }
        let lines = outcome.differences(from: FixtureOutcome(text: known))
        result.problems += lines.isEmpty ? ["expected.txt has the same content in another order or form"] : lines
    }
}
