internal import SystemCalls
internal import Tracing

/// A tracer that sends the spans of this program to a collector of OpenTelemetry.
final class OTLPTracer: Tracer {
    /// How many spans one request has.
    private static let batchSize = 512

    private let settings: OTLPSettings
    private let sender: OTLPSender
    /// The spans that ended since the last request.
    private let ended = Mutex<[OTLPSpan.Ended]>([])

    init(_ settings: OTLPSettings) {
        self.settings = settings
        sender = OTLPSender(settings, room: 8)
    }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        OTLPSpan(
            operationName, kind, in: context(), startedAt: instant().nanosecondsSinceEpoch, whenEnded: note)
    }

    private func note(_ span: OTLPSpan.Ended) {
        let batch = ended.withLock { ended -> [OTLPSpan.Ended] in
            ended.append(span)
            // The end of a trace is sent at once: a command that watches may be idle for hours.
            guard ended.count >= Self.batchSize || span.parent == nil else { return [] }
            defer { ended = [] }
            return ended
        }
        send(batch)
    }

    func forceFlush() {
        send(
            ended.withLock { ended in
                defer { ended = [] }
                return ended
            })
    }

    /// Sends the spans that have ended, and waits for the collector, but only for a moment.
    func finish() async {
        forceFlush()
        await sender.finish(reportsLoss: true)
    }

    private func send(_ spans: [OTLPSpan.Ended]) {
        guard !spans.isEmpty else { return }
        sender.send(OTLPTraces.request(spans, resource: settings.resource), count: spans.count)
    }

    // A trace begins and ends in this program: its identifiers are not sent to remotes.

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {}
}
