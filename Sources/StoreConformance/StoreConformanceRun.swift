public import StoreContract

/// A run of the checks over the stores of one provider.
public struct StoreConformanceRun: Sendable {
    private let provider: any StoreProvider
    private let location: String

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - provider: The stores to check.
    ///   - location: The beginning of the locations of the databases, at which none may exist.
    public init(provider: any StoreProvider, location: String) {
        self.provider = provider
        self.location = location
    }

    /// The names of all checks, in order.
    public static var catalog: [String] { StoreCheck.all.map(\.name) }

    /// Runs the checks.
    ///
    /// - Parameter names: The checks to run; nil for all.
    public func run(only names: Set<String>? = nil) async -> StoreConformanceReport {
        var report = StoreConformanceReport()
        for check in StoreCheck.all where names?.contains(check.name) ?? true {
            let subject = StoreSubject(provider, location: "\(location)-\(check.name)")
            do {
                try await check.body(subject)
            } catch let finding as StoreFinding {
                var finding = finding
                finding.check = check.name
                report.findings.append(finding)
            } catch {
                report.findings.append(
                    StoreFinding(check: check.name, what: "an error", expected: "none", found: "\(error)"))
            }
            subject.closeAll()
            report.checks.append(check.name)
        }
        return report
    }
}

/// The outcome of a run.
public struct StoreConformanceReport: Sendable {
    /// The names of the checks that were made.
    public internal(set) var checks: [String] = []
    /// The violations, at most one per check.
    public internal(set) var findings: [StoreFinding] = []

    /// Whether every check passed.
    public var succeeded: Bool { findings.isEmpty }

    init() {}
}

/// A behaviour that the contract documents and the store does not have.
public struct StoreFinding: Error, Sendable, Equatable, CustomStringConvertible {
    /// The check that found it.
    public internal(set) var check: String
    /// What was looked at.
    public let what: String
    /// The documented behaviour.
    public let expected: String
    /// The store's behaviour.
    public let found: String

    /// The finding in one line.
    public var description: String { "\(check): \(what): expected \(expected), found \(found)" }

    init(check: String = "", what: String, expected: String, found: String) {
        self.check = check
        self.what = what
        self.expected = expected
        self.found = found
    }
}
