internal import ArgumentParser
internal import BMO
internal import StoreContract
internal import TextFormats

/// The option `--metrics` of commands that sync or push.
struct MetricsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write metrics of the database and of this command to this file, for Prometheus' node_exporter.",
            valueName: "path"))
    var metrics: String?

    /// Returns the output of a command that has no `--metrics`; nil if the environment names no collector.
    static func sent() throws -> MetricsOutput? {
        try settings().map { MetricsOutput(try MetricsFile(path: nil, version: ProgramVersion.text), $0) }
    }

    /// Opens the file, if one is named, and reads the environment of OpenTelemetry.
    ///
    /// - Returns: Nil if the command has no metrics to write or to send.
    /// - Throws: ``CommandFailure`` of wrong usage for a file that cannot be written.
    func output() throws -> MetricsOutput? {
        let settings = Self.settings()
        guard metrics != nil || settings != nil else { return nil }
        do {
            return MetricsOutput(try MetricsFile(path: metrics, version: ProgramVersion.text), settings)
        } catch {
            throw CommandFailure(
                "the file of --metrics cannot be written: \(error); name another, or create its folder",
                exitCode: CommandFailure.usage)
        }
    }

    /// Reads the environment of OpenTelemetry; a fault in it is a warning, because a sync can do without.
    private static func settings() -> OTLPSettings? {
        defer { Workspace.takeSecrets(OTLPSettings.secretVariables) }
        do {
            return try OTLPSettings(Workspace.environment)
        } catch {
            Terminal.error("metrics are not sent: \(error)", prefix: "bmo: warning: ")
            return nil
        }
    }
}
