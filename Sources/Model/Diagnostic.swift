/// One fault of a configuration, for a person.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
    /// How bad a fault is.
    public enum Severity: String, Sendable {
        /// The file can be used.
        case warning
        /// The file cannot be used.
        case error
    }

    /// Where the fault is.
    public var location: SourceLocation
    /// How bad it is.
    public var severity: Severity
    /// What is wrong, with which thing; never a secret.
    public var message: String
    /// What to do, or what would be valid.
    public var remedy: String?

    /// A fault.
    public init(location: SourceLocation, severity: Severity = .error, message: String, remedy: String? = nil) {
        self.location = location
        self.severity = severity
        self.message = message
        self.remedy = remedy
    }

    /// One line: `bmo.yml:7:5: error: MESSAGE; REMEDY`.
    public var description: String {
        "\(location): \(severity.rawValue): \(message)" + (remedy.map { "; \($0)" } ?? "")
    }
}

/// Every fault found in a configuration, in the order of the file.
public struct ConfigurationErrors: Error, Sendable, Equatable, CustomStringConvertible {
    /// The faults; at least one is an error.
    public var diagnostics: [Diagnostic]

    /// The faults of a configuration.
    public init(diagnostics: [Diagnostic]) {
        self.diagnostics = diagnostics
    }

    /// A line for each fault.
    public var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}
