internal import BMO
internal import Foundation
internal import Model
public import StoreContract

/// Records a case against a live remote.
public struct FixtureRecording: Sendable {
    private let stores: any StoreProvider
    private let executable: String
    private let config: String
    private let folder: String

    /// The result of a recording.
    public struct Result: Sendable {
        /// The number of exchanges.
        public var exchanges = 0
        /// Possible secrets, and exchanges that the replay did not need.
        public var warnings: [String] = []
        /// Differences between the replay and the remote; with any, the case proves nothing.
        public var contradictions: [String] = []
        /// Whether the case was written.
        public var isKept = true
        /// The report of the recorded step, by lines.
        public var lines: [String] = []
    }

    /// - Parameters:
    ///   - folder: The case's folder, which is created.
    ///   - config: The configuration.
    ///   - stores: The kind of database that the executable writes.
    ///   - executable: The `bmo` executable, which runs the steps.
    public init(folder: String, config: String, stores: any StoreProvider, executable: String) {
        self.folder = folder
        self.stores = stores
        self.config = URL(fileURLWithPath: config).standardizedFileURL.path
        self.executable = executable
    }

    /// Runs a command against the remote and writes the case, or adds the command to an existing one.
    ///
    /// - Parameters:
    ///   - step: The command's arguments, such as `["sync", "Country"]`.
    ///   - adds: Whether to keep the existing steps, which are replayed first.
    ///   - replaces: Whether an existing case may be recorded again.
    ///   - keeps: Whether to write the case even if its replay contradicts the recording.
    ///   - purpose: The case's purpose, for its README; nil leaves that unchanged.
    /// - Throws: ``FixtureCase/Fault``; the case is then unchanged.
    public func record(
        _ step: [String], adds: Bool = false, replaces: Bool = false, keeps: Bool = false, purpose: String? = nil
    ) async throws -> Result {
        if let fault = FixtureCase.endlessness(of: step) { throw FixtureCase.Fault(fault) }
        let files = FileManager.default
        let target = FixtureCase(new: folder)
        let place = CasePlace(target)
        if adds { _ = try FixtureCase(folder: folder) } else { try place.check(replaces, writesReadme: purpose != nil) }
        let configuration: Configuration
        do {
            configuration = try ConfigurationFile.load(path: config)
        } catch {
            throw FixtureCase.Fault(error.diagnostics.map(\.description).joined(separator: "\n"))
        }
        let secrets = CaseSecrets(configuration, isAddress: ConfigEncoder.isPlainURL)
        if let name = secrets.held(by: step.joined(separator: "\n")) {
            throw FixtureCase.Fault(
                "the step holds the secret \(name) of the configuration, and would be written into the case; "
                    + "use a value that is not a secret")
        }
        let runner = try StepRunner(executable: executable)
        // The case is created next to the database, and copied to its folder when it is valid.
        let made = runner.folder.appendingPathComponent("made/" + target.name).path
        try place.copy(to: made)
        var fixture = adds ? try FixtureCase(folder: made) : FixtureCase(new: made)
        if adds {
            let run = FixtureRun(fixture, stores: stores, executable: executable)
            for (index, known) in fixture.steps.enumerated() {
                _ = try await run.replay(known, index, FaultFile(), runner)
            }
            fixture.steps.append(step)
        } else {
            fixture.steps = [step]
        }
        let now = Int64(Date().timeIntervalSince1970)
        let times = fixture.steps.indices.dropLast().map { fixture.time(of: $0) ?? now }
        fixture.recorded = times + [now]
        fixture.values = secrets.addresses
        let raw = runner.folder.appendingPathComponent("raw").path
        try files.createDirectory(atPath: raw, withIntermediateDirectories: true)
        var session = ExchangeSession(mode: .record, folder: raw, report: "", database: "")
        let faults = try FaultFile(path: fixture.folder + "/faults.yml", steps: .max)
        session.faults = faults.rules(of: fixture.steps.count - 1).map(\.value)
        session.recorded = now
        let ending = try await runner.run(step, config: config, session: session, directory: nil)
        // Exit code 2 is an error in the command line or the configuration.
        guard step.first == "sync" ? ending.report != nil : ending.exitCode != 2 else {
            throw FixtureCase.Fault(
                "bmo \(step.joined(separator: " ")) ended with \(ending.exitCode); nothing was written:\n"
                    + ending.errors.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        var result = Result()
        result.lines = ending.lines(step).map(secrets.clean)
        let failures = result.lines.filter { $0.contains(" failed: ") }
        guard try failures.isEmpty || !files.contentsOfDirectory(atPath: raw).isEmpty else {
            throw FixtureCase.Fault(
                "nothing was requested, and nothing was written: \(failures.joined(separator: "; "))")
        }
        for failure in failures {
            result.warnings.append("the case has this failure: \(failure); --force records it again")
        }
        if adds { try splitExchanges(of: fixture) }
        let live = try tables(runner)
        try write(fixture, step: fixture.steps.count - 1, from: raw, purpose: purpose, &result)
        try await prove(fixture, live, ending, secrets, &result)
        result.isKept = result.contradictions.isEmpty || keeps
        if result.isKept { try place.replace(with: made) }
        return result
    }

    private func tables(_ runner: StepRunner) throws -> FixtureOutcome {
        var outcome = FixtureOutcome()
        try outcome.addTables(of: runner, config: config, stores: stores)
        return outcome
    }

    /// Moves the exchanges of the first step to a folder of their own when a second step is added.
    private func splitExchanges(of fixture: FixtureCase) throws {
        guard fixture.steps.count == 2 else { return }
        let all = fixture.folder + "/exchanges"
        let first = all + "/1"
        guard !FileManager.default.fileExists(atPath: first) else { return }
        let names = try FileManager.default.contentsOfDirectory(atPath: all)
        try FileManager.default.createDirectory(atPath: first, withIntermediateDirectories: true)
        for name in names { try FileManager.default.moveItem(atPath: "\(all)/\(name)", toPath: "\(first)/\(name)") }
    }

    private func write(
        _ fixture: FixtureCase, step: Int, from raw: String, purpose: String?, _ result: inout Result
    ) throws {
        let files = FileManager.default
        let folder = fixture.exchanges(step)
        if step == 0 { try? files.removeItem(atPath: fixture.folder + "/exchanges") }
        try? files.removeItem(atPath: folder)
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let names = try files.contentsOfDirectory(atPath: raw).sorted()
        let exchanges = names.filter { $0.hasSuffix(".http") }
        let byBase = Dictionary(grouping: names) { String($0[..<($0.lastIndex(of: ".") ?? $0.endIndex)]) }
        for (index, name) in exchanges.enumerated() {
            // TIME-PROCESS-COUNT-WORDS: the parts before the words only determine the order.
            let base = String(name.dropLast(".http".count))
            let words = base.split(separator: "-", maxSplits: 3).last.map(String.init) ?? base
            let number = String(repeating: "0", count: max(0, 3 - "\(index + 1)".count)) + "\(index + 1)"
            for other in byBase[base] ?? [] {
                let ending = other.dropFirst(base.count)
                try files.moveItem(atPath: "\(raw)/\(other)", toPath: "\(folder)/\(number)-\(words)\(ending)")
            }
        }
        result.exchanges = exchanges.count
        try Data(contentsOf: URL(fileURLWithPath: config)).write(to: URL(fileURLWithPath: fixture.config))
        // The learned attributes are part of the configuration.
        if let learned = files.contents(atPath: LearnedAttributes.path(beside: config)) {
            try learned.write(to: URL(fileURLWithPath: LearnedAttributes.path(beside: fixture.config)))
        }
        let settings = fixture.settingsText
        if settings.isEmpty {
            try? files.removeItem(atPath: fixture.settings)
        } else {
            try Data(settings.utf8).write(to: URL(fileURLWithPath: fixture.settings))
        }
        if purpose != nil || !files.fileExists(atPath: fixture.readme) {
            let text = purpose ?? "Say here in one line what \(fixture.name) proves."
            try Data("\(text)\n".utf8).write(to: URL(fileURLWithPath: fixture.readme))
        }
        for name in try files.contentsOfDirectory(atPath: folder).sorted() {
            guard let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) else { continue }
            result.warnings += SecretScan.warnings(of: text, name: name)
        }
        if let text = try? String(contentsOfFile: fixture.config, encoding: .utf8) {
            result.warnings += SecretScan.warnings(ofConfiguration: text, name: "bmo.yml")
        }
    }

    /// Replays the recording, writes the expected outcome and compares it with the remote's.
    private func prove(
        _ fixture: FixtureCase, _ live: FixtureOutcome, _ ending: StepRunner.Ending, _ secrets: CaseSecrets,
        _ result: inout Result
    ) async throws {
        var run = FixtureRun(fixture, stores: stores, executable: executable, strict: true, updates: true)
        run.secrets = secrets
        let replay = try await run.run()
        for problem in replay.problems {
            if problem.contains("unexpected: ") || problem.contains("would hold the secret") {
                result.contradictions.append(problem)
            } else {
                result.warnings.append(problem)
            }
        }
        let text = (try? String(contentsOfFile: fixture.expected, encoding: .utf8)) ?? ""
        var replayed = FixtureOutcome(text: text)
        let title = FixtureOutcome.title(fixture.steps.count - 1, fixture.steps.last ?? [])
        let step = replayed.sections.first { $0.title == title }
        replayed.sections.removeAll { !$0.isTable }
        var differences = replayed.differences(from: live)
        let faults = try FaultFile(path: fixture.folder + "/faults.yml", steps: .max)
        // Some faults are only injected in replays.
        if let step, !faults.rules.contains(where: \.isForReplays) {
            var said = FixtureOutcome(), then = FixtureOutcome()
            said.sections = [step.plain]
            then.sections = [
                FixtureOutcome.Section(
                    title: title, lines: ending.lines(fixture.steps.last ?? []).map(secrets.clean), isTable: false
                ).plain
            ]
            differences += said.differences(from: then)
        }
        for difference in differences.prefix(10) {
            let words = "the replay differs from the remote: \(difference)"
            // A redacted value differs on purpose.
            if difference.contains("***") {
                result.warnings.append(words)
            } else {
                result.contradictions.append(words)
            }
        }
    }
}

extension FixtureOutcome.Section {
    /// The lines that a live run and its replay share: without error texts, retries and times.
    fileprivate var plain: Self {
        var other = self
        other.lines = lines.filter { line in
            !["faults: ", "tried again: ", "error: "].contains(where: line.hasPrefix)
                && !line.contains(" failed: ") && !line.contains(" warns: ")
        }
        return other
    }
}
