internal import BMO
internal import StoreContract

/// Where a command's metrics and traces go: the file of `--metrics`, and the collector of the environment.
final class TelemetryOutput: Sendable {
    /// The metrics; nil if they go nowhere.
    let file: MetricsFile?
    private let metrics: (settings: OTLPSettings, sender: OTLPSender)?
    private let tracer: OTLPTracer?

    /// - Parameters:
    ///   - file: The metrics; nil if they go nowhere.
    ///   - metrics: Where the metrics are sent, besides the file.
    ///   - tracer: The program's tracer.
    init(_ file: MetricsFile?, metrics: OTLPSettings?, tracer: OTLPTracer?) {
        self.file = file
        // Counters are cumulative: the newest request has all that older ones had.
        self.metrics = metrics.map { ($0, OTLPSender($0, room: 1)) }
        self.tracer = tracer
    }

    /// Notes the result of a sync.
    func note(_ report: SyncReport, _ store: any Store) { note { try $0.note(report, store) } }

    /// Notes a sync that failed before it had a report, such as one that could not open the database.
    func note(failedSync failure: any Error) { note { try $0.note(failedSync: failure) } }

    /// Notes the result of a push.
    func note(_ report: PushReport, _ store: any Store) { note { try $0.note(report, store) } }

    private func note(_ body: (MetricsFile) throws -> Void) {
        guard let file else { return }
        noting { try body(file) }
        guard let metrics else { return }
        metrics.sender.send(file.otlp(resource: metrics.settings.resource), count: 1)
    }

    /// Warns of metrics that could not be written: the work itself is done.
    func noting(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            Terminal.error("the metrics were not updated: \(error)", prefix: "bmo: warning: ")
        }
    }

    /// Sends what was not sent yet, and waits for it, but not for a collector that does not answer.
    func finish() async {
        async let traced: Void? = tracer?.finish()
        async let measured: Void? = metrics?.sender.finish(reportsLoss: false)
        _ = await (traced, measured)
    }
}
