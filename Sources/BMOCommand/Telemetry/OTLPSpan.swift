internal import SystemCalls
internal import TextFormats
internal import Tracing

/// A span of ``OTLPTracer``.
final class OTLPSpan: Span {
    /// The identifiers of a span, in hexadecimal: 16 and 8 bytes.
    struct Identity: Sendable {
        let trace: String
        let span: String
    }

    private enum IdentityKey: ServiceContextKey { typealias Value = Identity }

    /// A span that has ended.
    struct Ended: Sendable {
        let identity: Identity
        /// The identifier of the span around it; nil for the root of a trace.
        let parent: String?
        var name: String
        let kind: SpanKind
        /// Nanoseconds since 1970.
        let start: UInt64
        /// Nanoseconds since 1970.
        var end: UInt64 = 0
        var attributes = SpanAttributes()
        /// The reason why the work failed; nil if it did not.
        var failure: String?
    }

    let context: ServiceContext
    private let state: Mutex<(span: Ended, hasEnded: Bool)>
    private let whenEnded: @Sendable (Ended) -> Void

    init(
        _ name: String, _ kind: SpanKind, in context: ServiceContext, startedAt start: UInt64,
        whenEnded: @escaping @Sendable (Ended) -> Void
    ) {
        let around = context[IdentityKey.self]
        let identity = Identity(trace: around?.trace ?? Self.identifier(bytes: 16), span: Self.identifier(bytes: 8))
        var context = context
        context[IdentityKey.self] = identity
        self.context = context
        self.whenEnded = whenEnded
        state = Mutex((Ended(identity: identity, parent: around?.span, name: name, kind: kind, start: start), false))
    }

    private static func identifier(bytes count: Int) -> String {
        Hexadecimal.text((0..<count).map { _ in UInt8.random(in: 1...255) })
    }

    var operationName: String {
        get { state.withLock { $0.span.name } }
        set { state.withLock { $0.span.name = newValue } }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.span.attributes } }
        set { state.withLock { $0.span.attributes = newValue } }
    }

    var isRecording: Bool { state.withLock { !$0.hasEnded } }

    func setStatus(_ status: SpanStatus) {
        state.withLock { $0.span.failure = status.code == .error ? status.message ?? "" : nil }
    }

    func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        state.withLock { $0.span.failure = "\(error)" }
    }

    // bmo's spans have neither events nor links.
    func addEvent(_ event: SpanEvent) {}
    func addLink(_ link: SpanLink) {}

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let end = instant().nanosecondsSinceEpoch
        let span = state.withLock { state -> Ended? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            state.span.end = max(end, state.span.start)
            return state.span
        }
        if let span { whenEnded(span) }
    }
}
