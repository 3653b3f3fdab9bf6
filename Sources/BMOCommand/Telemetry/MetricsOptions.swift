internal import ArgumentParser
internal import BMO
internal import StoreContract
internal import TextFormats
internal import Tracing

/// The option `--metrics` of commands that sync or push.
struct MetricsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write metrics of the database and of this command to this file, for Prometheus' node_exporter.",
            valueName: "path"))
    var metrics: String?

    /// Opens the file, if one is named, and reads the environment of OpenTelemetry.
    ///
    /// The program's tracer is set up as well: call it once.
    ///
    /// - Parameter isServed: Whether the web interface shows the metrics, too.
    /// - Returns: Nil if the command has nothing to write or to send.
    /// - Throws: ``CommandFailure`` of wrong usage for a file that cannot be written.
    func output(isServed: Bool = false) throws -> TelemetryOutput? {
        do {
            return try Self.output(path: metrics, isServed: isServed)
        } catch {
            throw CommandFailure(
                "the file of --metrics cannot be written: \(error); name another, or create its folder",
                exitCode: CommandFailure.usage)
        }
    }

    private static func output(
        path: String?, isServed: Bool
    ) throws(MetricsFile.Failure) -> TelemetryOutput? {
        defer { Workspace.takeSecrets(OTLPSettings.secretVariables) }
        let (metrics, traces) = (settings(of: .metrics), settings(of: .traces))
        guard path != nil || metrics != nil || traces != nil || isServed else { return nil }
        var file = metrics == nil && !isServed ? nil : MetricsFile(version: ProgramVersion.text)
        if let path { file = try MetricsFile(path: path, version: ProgramVersion.text) }
        let tracer = traces.map(OTLPTracer.init)
        if let tracer { InstrumentationSystem.bootstrap(tracer) }
        return TelemetryOutput(file, metrics: metrics, tracer: tracer)
    }

    /// Reads the environment of OpenTelemetry; a fault in it is a warning, because a sync can do without.
    private static func settings(of signal: OTLPSettings.Signal) -> OTLPSettings? {
        do {
            return try OTLPSettings(signal, Workspace.environment)
        } catch {
            Terminal.error("\(signal.rawValue) are not sent: \(error)", prefix: "bmo: warning: ")
            return nil
        }
    }
}
