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

    /// Opens the file, if one is named.
    ///
    /// - Throws: ``CommandFailure`` of wrong usage for a file that cannot be written.
    func file() throws -> MetricsFile? {
        do {
            return try metrics.map { try MetricsFile(path: $0, version: ProgramVersion.text) }
        } catch let failure as MetricsFile.Failure {
            throw CommandFailure(
                "the file of --metrics cannot be written: \(failure); name another, or create its folder",
                exitCode: CommandFailure.usage)
        }
    }
}

extension MetricsFile {
    /// Notes a result; a failure is a warning, because the work itself is done.
    static func noting(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            Terminal.error("the file of --metrics was not written: \(error)", prefix: "bmo: warning: ")
        }
    }
}
