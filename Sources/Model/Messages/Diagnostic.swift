/// A fault of a configuration, for display.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
    /// The severity of a fault.
    public enum Severity: String, Sendable {
        /// The file is usable.
        case warning
        /// The file is not usable.
        case error
    }

    /// The location of the fault.
    public var location: SourceLocation
    /// The severity of the fault.
    public var severity: Severity
    /// The fault and its subject; never contains a secret.
    public var message: String
    /// How to fix it, or the valid values.
    public var remedy: String?

    /// Creates a diagnostic.
    public init(location: SourceLocation, severity: Severity = .error, message: String, remedy: String? = nil) {
        self.location = location
        self.severity = severity
        self.message = message
        self.remedy = remedy
    }

    /// The diagnostic on one line: `bmo.yml:7:5: error: MESSAGE; REMEDY`.
    public var description: String {
        "\(location): \(severity.rawValue): \(message)" + (remedy.map { "; \($0)" } ?? "")
    }
}

/// All faults of a configuration, in the order of the file.
public struct ConfigurationErrors: Error, Sendable, Equatable, CustomStringConvertible {
    /// The faults, at least one of severity error.
    public var diagnostics: [Diagnostic]

    /// Creates an error from faults.
    public init(diagnostics: [Diagnostic]) {
        self.diagnostics = diagnostics
    }

    /// The faults, one per line.
    public var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}
