/// BridgeConformance: tests whether a bridge keeps the contract of bmo_bridge.h, by using it.
///
/// ```swift
/// let settings = try ConformanceSettings(path: "conformance.yml")
/// let run = try await ConformanceRun(settings, stores: SQLiteStores())
/// let report = await run.run()
/// print(report.text)
/// ```
///
/// Each check is a value with an identifier, a level and a body that throws the violation. A check that cannot be made
/// states the reason. Skipping a check requires a reason in the settings; otherwise the check counts as failed.
public import BridgeHost
internal import BMO
internal import Logging
internal import Model
public import StoreContract

/// A run of the checks against one bridge of a configuration.
public struct ConformanceRun: Sendable {
    private let settings: ConformanceSettings
    private let subject: Subject

    /// Loads the settings' configuration and finds the bridge.
    ///
    /// - Parameters:
    ///   - settings: The bridge to test, with its test data.
    ///   - stores: The kind of database that checks of writes and mappings use.
    ///   - executable: The executable that serves bridges in child processes; nil for this process's executable.
    ///   - searchPaths: Where to search for plugins; nil for the standard paths.
    /// - Throws: `ConfigurationErrors`, ``BridgeFailure``, ``ConformanceSettings/Fault``.
    public init(
        _ settings: ConformanceSettings, stores: any StoreProvider, executable: String? = nil,
        searchPaths: [SearchPath]? = nil
    ) async throws {
        self.settings = settings
        let spy = LogSpy()
        var limits = BridgeLimits()
        limits.retries.tries = 1
        // Report a bridge that does not react to a cancellation as slow, not as abandoned.
        limits.cancellationGrace = .seconds(5)
        // One check reports printing; it must not fail the others.
        limits.allowsPrinting = true
        if let timeout = settings.timeout {
            limits.call = min(limits.call, timeout)
            limits.inspection = min(limits.inspection, timeout)
        }
        let host = BridgeHost(searchPaths: searchPaths, executable: executable, logger: spy.logger, limits: limits)
        subject = try await Subject(settings, host: host, stores: stores, spy: spy)
    }

    /// Runs the basic checks, then the others unless a basic one failed.
    ///
    /// Further violations by an unusable bridge tell its author nothing new and take long to find.
    ///
    /// - Parameter report: Called with each result when it is available.
    public func run(report: @Sendable (ConformanceReport.Result) -> Void = { _ in }) async -> ConformanceReport {
        var results: [ConformanceReport.Result] = []
        let wanted = Self.checks.filter { $0.level <= settings.level }
        for check in wanted.filter({ $0.level == .basic }) + wanted.filter({ $0.level > .basic }) {
            let failed = results.filter { $0.check.level == .basic && $0.isFailure }.map(\.check.id)
            let result: ConformanceReport.Result
            if check.level > .basic, !failed.isEmpty, settings.skips[check.id] == nil {
                result = ConformanceReport.Result(
                    check: check.listed,
                    outcome: .notApplicable("not tried, as \(failed.joined(separator: ", ")) failed"), duration: .zero)
            } else {
                result = await perform(check)
            }
            results.append(result)
            report(result)
        }
        return ConformanceReport(
            bridge: "\(subject.plugin.name) \(subject.plugin.version)", level: settings.level, results: results)
    }

    /// All checks.
    public static var catalog: [ConformanceReport.Check] {
        checks.map(\.listed)
    }

    static let checks =
        DescriptionChecks.all + ReadingChecks.all + ResumeChecks.all + ConductChecks.all + WriteChecks.all

    private func perform(_ check: Check) async -> ConformanceReport.Result {
        let clock = ContinuousClock()
        let start = clock.now
        let outcome: ConformanceReport.Outcome
        if let reason = settings.skips[check.id] {
            outcome = .skipped(reason)
        } else {
            do {
                try await inTime(check)
                outcome = .passed
            } catch let reason as NotApplicable {
                outcome = .notApplicable(reason.words)
            } catch let violation as Violation {
                outcome = .failed(violation.words)
            } catch {
                outcome = .failed("\(error)")
            }
        }
        return ConformanceReport.Result(check: check.listed, outcome: outcome, duration: clock.now - start)
    }

    /// Runs a check, and cancels it at the time limit.
    private func inTime(_ check: Check) async throws {
        guard let timeout = settings.timeout else { return try await check.body(subject) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [subject] in try await check.body(subject) }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw Violation("it took longer than \(timeout.components.seconds) s (--timeout)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// A check with its body.
struct Check: Sendable {
    let id: String
    let title: String
    let level: ConformanceLevel
    let body: @Sendable (Subject) async throws -> Void

    /// The description of the check.
    var listed: ConformanceReport.Check { ConformanceReport.Check(id: id, title: title, level: level) }

    init(
        _ id: String, _ title: String, _ level: ConformanceLevel,
        _ body: @escaping @Sendable (Subject) async throws -> Void
    ) {
        self.id = id
        self.title = title
        self.level = level
        self.body = body
    }
}

/// A violation found by a check.
struct Violation: Error {
    let words: String

    init(_ words: String) { self.words = words }
}

/// The reason why a check cannot be made.
struct NotApplicable: Error {
    let words: String

    init(_ words: String) { self.words = words }
}

/// Throws a violation unless `condition` holds.
func require(_ condition: Bool, _ words: @autoclosure () -> String) throws {
    if !condition { throw Violation(words()) }
}
