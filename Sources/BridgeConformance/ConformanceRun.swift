/// BridgeConformance: proves that a bridge keeps the contract of bmo_bridge.h, by using it.
///
/// ```swift
/// let settings = try ConformanceSettings(path: "conformance.yml")
/// let run = try await ConformanceRun(settings, host: host)
/// let report = await run.run()
/// print(report.text)
/// ```
///
/// Each check is a value with an identifier, a level and a body that throws what it has against the bridge. A check that
/// cannot be made says why; one that the author does not want needs a reason in the settings, or it counts as failed.
public import BridgeHost
internal import BMO
internal import Logging
internal import Model

/// One run of the kit against one bridge of a configuration.
public struct ConformanceRun: Sendable {
    private let settings: ConformanceSettings
    private let subject: Subject

    /// Loads the configuration of the settings and finds the bridge.
    ///
    /// - Parameters:
    ///   - settings: What to test, and with what.
    ///   - executable: What serves bridges in child processes; nil for this process's executable.
    ///   - searchPaths: Where to look for plugins; nil for the usual places.
    /// - Throws: `ConfigurationErrors`, ``BridgeFailure``, ``ConformanceSettings/Fault``.
    public init(
        _ settings: ConformanceSettings, executable: String? = nil, searchPaths: [SearchPath]? = nil
    ) async throws {
        self.settings = settings
        let spy = LogSpy()
        var limits = BridgeLimits()
        limits.retries.tries = 1
        // A bridge that does not react to a cancel shows as slow, not as abandoned.
        limits.cancellationGrace = .seconds(5)
        // One check has something against it, and the others go on.
        limits.allowsPrinting = true
        let host = BridgeHost(searchPaths: searchPaths, executable: executable, logger: spy.logger, limits: limits)
        subject = try await Subject(settings, host: host, spy: spy)
    }

    /// Runs every check, in their order; a failure stops none of the others.
    ///
    /// - Parameter report: Called with each result when it is there.
    public func run(report: @Sendable (ConformanceReport.Result) -> Void = { _ in }) async -> ConformanceReport {
        var results: [ConformanceReport.Result] = []
        for check in Self.checks where check.level <= settings.level {
            let result = await perform(check)
            results.append(result)
            report(result)
        }
        return ConformanceReport(
            bridge: "\(subject.plugin.name) \(subject.plugin.version)", level: settings.level, results: results)
    }

    /// All checks that there are.
    public static var catalog: [ConformanceReport.Check] {
        checks.map { ConformanceReport.Check(id: $0.id, title: $0.title, level: $0.level) }
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
                try await check.body(subject)
                outcome = .passed
            } catch let reason as NotApplicable {
                outcome = .notApplicable(reason.words)
            } catch let violation as Violation {
                outcome = .failed(violation.words)
            } catch {
                outcome = .failed("\(error)")
            }
        }
        return ConformanceReport.Result(
            check: ConformanceReport.Check(id: check.id, title: check.title, level: check.level), outcome: outcome,
            duration: clock.now - start)
    }
}

/// Something to check.
struct Check: Sendable {
    let id: String
    let title: String
    let level: ConformanceLevel
    let body: @Sendable (Subject) async throws -> Void

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

/// What a check has against the bridge.
struct Violation: Error {
    let words: String

    init(_ words: String) { self.words = words }
}

/// Why a check cannot be made.
struct NotApplicable: Error {
    let words: String

    init(_ words: String) { self.words = words }
}

/// Throws a violation unless `condition` holds.
func require(_ condition: Bool, _ words: @autoclosure () -> String) throws {
    if !condition { throw Violation(words()) }
}
