/// Fixtures: cases that replay a remote's recorded replies without a network and compare the outcome.
internal import BMO
internal import Foundation
internal import Model
public import StoreContract

/// Replays one case.
///
/// ```swift
/// let fixture = try FixtureCase(folder: "Fixtures/cases/rest-paging")
/// let result = try await FixtureRun(fixture, stores: SQLiteStores(), executable: bmo).run()
/// #expect(result.problems.isEmpty)
/// ```
public struct FixtureRun: Sendable {
    private let fixture: FixtureCase
    private let stores: any StoreProvider
    private let executable: String
    private let isStrict: Bool
    private let updates: Bool
    /// The secrets that `expected.txt` must not contain; nil for those of the case's configuration.
    var secrets: CaseSecrets?

    /// The result of a replay.
    public struct Result: Sendable {
        /// The case's name.
        public var name: String
        /// The case's purpose.
        public var purpose: String
        /// The unexpected results, one per line; empty for a case that passes.
        public var problems: [String] = []
        /// Notes on a case that passes.
        public var notes: [String] = []
        /// Whether `expected.txt` was written.
        public var wasUpdated = false

        /// Whether everything is as expected.
        public var passed: Bool { problems.isEmpty }
    }

    /// - Parameters:
    ///   - fixture: The case.
    ///   - stores: The kind of database that the executable writes.
    ///   - executable: The `bmo` executable, which runs the steps.
    ///   - strict: Whether an unused exchange, or a request that was not recorded, is a problem.
    ///   - updates: Whether to rewrite `expected.txt`.
    public init(
        _ fixture: FixtureCase, stores: any StoreProvider, executable: String, strict: Bool = false,
        updates: Bool = false
    ) {
        self.fixture = fixture
        self.stores = stores
        self.executable = executable
        isStrict = strict
        self.updates = updates
    }

    /// Runs all steps and compares the outcome.
    ///
    /// - Throws: ``FixtureCase/Fault`` when the case cannot be run.
    public func run() async throws -> Result {
        var result = Result(name: fixture.name, purpose: fixture.purpose)
        // During a recording, further steps may follow.
        let faults = try FaultFile(
            path: fixture.folder + "/faults.yml", steps: secrets == nil ? fixture.steps.count : .max)
        let direct = (try? FileManager.default.contentsOfDirectory(atPath: fixture.folder + "/exchanges")) ?? []
        guard fixture.steps.count == 1 || !direct.contains(where: { $0.hasSuffix(".http") }) else {
            throw FixtureCase.Fault(
                "\(fixture.name) has \(fixture.steps.count) steps: move what is in exchanges/ to exchanges/1/, or remove case.yml"
            )
        }
        let names = try fixture.steps.indices.map(fixture.names)
        // The step itself reports a configuration with errors.
        if let bridges = try? ConfigurationFile.load(path: fixture.config).bridges.map(\.name) {
            for (step, names) in names.enumerated() { try fixture.check(names, step: step, bridges: bridges) }
        }
        let runner = try StepRunner(executable: executable)
        var outcome = FixtureOutcome()
        var injected: Set<Int> = []
        for (index, step) in fixture.steps.enumerated() {
            let ending = try await replay(step, index, faults, runner)
            outcome.sections.append(
                FixtureOutcome.Section(
                    title: FixtureOutcome.title(index, step), lines: ending.lines(step), isTable: false))
            injected.formUnion(
                ending.notes.filter { $0.hasPrefix("fault ") }.compactMap { Int($0.split(separator: " ").last ?? "") })
            validate(ending, names[index], step: index, into: &result)
        }
        for (index, rule) in faults.rules.enumerated() where !injected.contains(index) {
            result.problems.append("faults.yml: the fault on \(rule.words) never happened: nothing was requested there")
        }
        try outcome.addTables(of: runner, config: fixture.config, stores: stores)
        try compare(outcome, &result)
        return result
    }

    func replay(
        _ step: [String], _ index: Int, _ faults: FaultFile, _ runner: StepRunner
    ) async throws -> StepRunner.Ending {
        var session = ExchangeSession(mode: .replay, folder: fixture.exchanges(index), report: "", database: "")
        session.recorded = fixture.time(of: index)
        session.values = fixture.values
        session.faults = faults.rules(of: index).map(\.value)
        let ending = try await runner.run(step, config: fixture.config, session: session, directory: fixture.folder)
        let broken = Set(ending.notes.filter { $0.hasPrefix("broken ") }).sorted().map {
            "\(fixture.exchanges(index))/\($0.dropFirst(7))"
        }
        guard broken.isEmpty else { throw FixtureCase.Fault(broken.joined(separator: "\n")) }
        guard step.first != "sync" || ending.report != nil else {
            throw FixtureCase.Fault(
                "\(fixture.name), step \(index + 1): bmo \(step.joined(separator: " ")) ended with \(ending.exitCode):\n"
                    + ending.errors.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return ending
    }

    /// Checks the exchanges that a step requested or left unused.
    private func validate(_ ending: StepRunner.Ending, _ names: [String], step: Int, into result: inout Result) {
        let place = fixture.steps.count == 1 ? "" : "step \(step + 1): "
        let hadFaults = ending.notes.contains { $0.hasPrefix("fault ") }
        var used: Set<String> = []
        var words: [String] = []
        for note in ending.notes {
            let parts = note.split(separator: " ", maxSplits: 1).map(String.init)
            switch parts.first {
            case "used": used.insert(parts[1])
            case "again" where !hadFaults: words.append("\(place)\(parts[1]) was requested again")
            case "unmatched": words.append("\(place)unexpected: \(parts[1])")
            // A request that would have changed the remote is always a problem.
            case "unmatched-write": result.problems.append("\(place)unexpected: \(parts[1])")
            default: break
            }
        }
        let ended = endedByFaults(ending, step)
        for name in names where !used.contains(name) {
            if let entity = entity(of: name, step), ended.contains(entity) { continue }
            words.append("\(place)unused: \(name) was recorded, but never requested")
        }
        if isStrict { result.problems += words } else { result.notes += words }
    }

    /// Returns the entities that a fault ended; their later exchanges remain unused.
    private func endedByFaults(_ ending: StepRunner.Ending, _ step: Int) -> Set<String> {
        let faulted = ending.notes.filter { $0.hasPrefix("fault ") }.compactMap { note -> String? in
            note.split(separator: " ").dropFirst().first.flatMap { entity(of: String($0), step) }
        }
        guard let entities = ending.report?["entities"]?.array else {
            return ending.exitCode == 0 ? [] : Set(faulted)
        }
        let failed = entities.filter { $0["error"] != nil }.compactMap { $0["entity"]?.string }
        return Set(faulted).intersection(failed)
    }

    /// Returns the entity of an exchange from its first line: `# api: Team, request 2`.
    private func entity(of name: String, _ step: Int) -> String? {
        guard let text = try? String(contentsOfFile: "\(fixture.exchanges(step))/\(name)", encoding: .utf8),
            let note = text.split(separator: "\n").first, note.hasPrefix("# "), let colon = note.firstRange(of: ": ")
        else { return nil }
        let words = note[colon.upperBound...]
        return String(words.ranges(of: ", request ").last.map { words[..<$0.lowerBound] } ?? words)
    }

    private func compare(_ outcome: FixtureOutcome, _ result: inout Result) throws {
        let found = outcome.text
        let known = try? String(contentsOfFile: fixture.expected, encoding: .utf8)
        if updates {
            guard known != found else { return }
            let secrets =
                try secrets
                ?? CaseSecrets(ConfigurationFile.load(path: fixture.config), isAddress: ConfigEncoder.isPlainURL)
            if let name = secrets.held(by: found) {
                result.problems.append(
                    "expected.txt would hold the secret \(name), and was not written: take it out of the exchanges")
                return
            }
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
