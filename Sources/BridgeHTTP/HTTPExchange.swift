internal import BridgeKit
internal import Synchronization

/// One request and its reply, running since ``HTTPClient/start(_:)``.
///
/// ``response()``, ``nextChunk()`` and ``body()`` block; call them from one thread at a time. ``cancel()`` may come from
/// any thread. Dropping the last reference cancels.
public final class HTTPExchange: Sendable {
    /// Zero bytes after the end of ``PaddedBody/bytes``: what a SIMD parser may read past the end.
    public static let padding = 64

    private struct Attempt {
        var state: Monitor<ExchangeState>
        /// The token that went along.
        var credential: Credential?
        /// What went along of ``SessionValue``.
        var session: String?
        var hasNewSession = false
        var isCancelled = false
    }

    private let attempt: Mutex<Attempt>
    private let loop: HTTPLoop
    /// What is asked again where its token is refused; nil for requests that carry none.
    private let request: HTTPRequest?
    private let bodyLimit: Int
    /// The client lives as long as its exchanges: its end would cancel them.
    private let client: HTTPClient

    init(client: HTTPClient, request: HTTPRequest?, bodyLimit: Int) {
        attempt = Mutex(Attempt(state: Monitor(ExchangeState(bufferLimit: 1 << 20, bodyLimit: bodyLimit))))
        self.client = client
        self.request = request
        loop = client.loop
        self.bodyLimit = bodyLimit
    }

    deinit { cancel() }

    /// A body and zeros after it.
    public struct PaddedBody: Sendable {
        /// The body and ``HTTPExchange/padding`` zeros.
        public let bytes: [UInt8]
        /// How many bytes the body has.
        public let count: Int
        /// Nothing but the zeros.
        public static let empty = PaddedBody([])

        /// A copy of bytes, with zeros after them.
        public init(_ bytes: some Collection<UInt8>) {
            var padded = [UInt8]()
            padded.reserveCapacity(bytes.count + padding)
            padded.append(contentsOf: bytes)
            count = padded.count
            padded.append(contentsOf: repeatElement(0, count: padding))
            self.bytes = padded
        }

        init(padding bytes: consuming [UInt8]) {
            count = bytes.count
            bytes.append(contentsOf: repeatElement(0, count: padding))
            self.bytes = bytes
        }
    }

    /// The head of the final response, after redirects, whatever its status is.
    ///
    /// - Throws: ``BridgeError``: no connection, no answer in time, TLS, malformed, a limit, cancelled.
    public func response() throws -> HTTPResponse {
        let response = try head()
        if refusesSession(response), restart(forSession: true) { return try self.response() }
        guard response.status == 401, !response.lostCredentials, restart() else { return response }
        let second = try head()
        return refusesSession(second) && restart(forSession: true) ? try head() : second
    }

    /// Whether the reply refuses the request and hands out what was missing: once in an exchange.
    private func refusesSession(_ response: HTTPResponse) -> Bool {
        // What got no credentials is a stranger, whose values are not for the API.
        guard let session = client.session, request?.sendsCredentials == true else { return false }
        let (sent, isNew) = attempt.withLock { ($0.session, !$0.hasNewSession) }
        return session.learn(from: response, sent: sent) && isNew
    }

    /// Notes the ``SessionValue`` that goes along.
    func use(session: String?) { attempt.withLock { $0.session = session } }

    var state: Monitor<ExchangeState> { attempt.withLock { $0.state } }

    /// Notes the token that goes along.
    func use(_ credential: Credential) { attempt.withLock { $0.credential = credential } }

    /// Asks once more, with a new token or with what the reply has handed out; false where that is not to be done.
    private func restart(forSession: Bool = false) -> Bool {
        let fresh = Monitor(ExchangeState(bufferLimit: 1 << 20, bodyLimit: bodyLimit))
        let old = attempt.withLock { attempt -> (state: Monitor<ExchangeState>, stale: Credential?)? in
            guard request != nil, !attempt.isCancelled, forSession || attempt.credential != nil else { return nil }
            defer {
                attempt.state = fresh
                // Once: a second refusal is the answer.
                if forSession { attempt.hasNewSession = true } else { attempt.credential = nil }
            }
            return (attempt.state, forSession ? nil : attempt.credential)
        }
        guard let (state, stale) = old, let request else { return false }
        end(state)
        // A `cancel()` from here on ends the fresh attempt, which is then not sent.
        client.begin(self, request, replacing: stale)
        if !forSession { attempt.withLock { $0.credential = nil } }
        return true
    }

    private func head() throws -> HTTPResponse {
        try state.wait { state in
            if state.isCancelled { throw state.error ?? ExchangeState.cancelled }
            if let response = state.response { return response }
            if let error = state.error { throw error }
            return nil
        }
    }

    /// The next bytes of the body; nil at its clean end.
    ///
    /// - Throws: ``BridgeError``; a truncated body throws after the bytes that came.
    public func nextChunk() throws -> [UInt8]? {
        let (chunk, wasPaused) = try state.wait { state -> ([UInt8]?, Bool)? in
            if state.isCancelled { throw state.error ?? ExchangeState.cancelled }
            if !state.buffer.isEmpty {
                var chunk: [UInt8] = []
                swap(&chunk, &state.buffer)
                defer { state.isPaused = false }
                return (chunk, state.isPaused)
            }
            if let error = state.error { throw error }
            return state.isFinished ? (nil, false) : nil
        }
        if wasPaused { loop.resume(state) }
        return chunk
    }

    /// All the rest of the body.
    ///
    /// - Throws: ``BridgeError``; code `limit` above 256 MiB or the option `max_body_bytes`.
    public func body() throws -> [UInt8] { try collect() }

    /// All the rest of the body, with zeros after it, without a copy where the reply told its length.
    public func paddedBody() throws -> PaddedBody {
        PaddedBody(padding: try collect())
    }

    /// Up to `limit` bytes of the body's beginning, and no error where it breaks off: for messages.
    public func bodyPrefix(_ limit: Int = 16_384) -> [UInt8] {
        var prefix: [UInt8] = []
        while prefix.count < limit, let chunk = try? nextChunk() { prefix += chunk }
        cancel()
        return Array(prefix.prefix(limit))
    }

    /// Whether the server may have got the request; known once ``response()`` returned or threw.
    public var wasSent: Bool { state.withLock { $0.wasSent } }

    /// Ends the exchange; calls that wait throw `cancelled` at once.
    public func cancel() {
        let state = attempt.withLock { attempt in
            attempt.isCancelled = true
            return attempt.state
        }
        end(state)
    }

    private func end(_ state: Monitor<ExchangeState>) {
        let isRunning = state.withLock { state in
            if state.isFinished { return false }
            state.isFinished = true
            state.isCancelled = true
            state.error = ExchangeState.cancelled
            state.buffer = []
            state.recorder?.finish(nil)
            return true
        }
        if isRunning {
            state.signal()
            loop.cancel(state)
        }
    }

    private func collect() throws -> [UInt8] {
        let wasPaused = state.withLock { state in
            state.bufferLimit = Int.max
            state.wantsWhole = true
            state.bodyLimit = min(state.bodyLimit, bodyLimit)
            defer { state.isPaused = false }
            return state.isPaused
        }
        if wasPaused { loop.resume(state) }
        return try state.wait { state in
            if let error = state.error { throw error }
            guard state.isFinished else { return nil }
            var body: [UInt8] = []
            swap(&body, &state.buffer)
            return body
        }
    }
}

/// What the I/O thread and the reader of an exchange share.
struct ExchangeState {
    var response: HTTPResponse?
    /// Bytes that came and nobody took.
    var buffer: [UInt8] = []
    var bufferLimit: Int
    var bodyLimit: Int
    /// The reader waits for the end only: no need to wake it for each piece.
    var wantsWhole = false
    var isPaused = false
    /// At least the head of the request has gone out.
    var wasSent = false
    var isFinished = false
    var isCancelled = false
    var error: BridgeError?
    /// Writes the exchange down; nil as a rule.
    var recorder: ExchangeRecorder?

    static let cancelled = BridgeError(.cancelled, "the request was cancelled")
}
