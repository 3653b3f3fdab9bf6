internal import Logging
internal import Model

extension Terminal {
    /// Writes a fault of the configuration to stderr.
    static func show(_ diagnostic: Diagnostic) {
        guard CommandLog.isJSON else { return error(diagnostic.description, prefix: "") }
        var facts: Logger.Metadata = ["location": "\(diagnostic.location)"]
        if let remedy = diagnostic.remedy { facts["remedy"] = "\(remedy)" }
        CommandLog.write(diagnostic.severity == .error ? .error : .warning, diagnostic.message, facts)
    }
}
