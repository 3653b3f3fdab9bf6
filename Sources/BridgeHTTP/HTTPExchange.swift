internal import BridgeKit
internal import SystemCalls

/// One request and its reply, running since ``HTTPClient/start(_:)``.
///
/// ``response()``, ``nextChunk()`` and ``body()`` block; call them from one thread at a time. ``cancel()`` may come
/// from any thread. Releasing the last reference cancels the request.
public final class HTTPExchange: Sendable {
    /// The number of zero bytes after ``PaddedBody/bytes``, which a SIMD parser may read past the end.
    public static let padding = ExchangeState.padding

    private struct Attempt {
        var state: Monitor<ExchangeState>
        /// The token sent with the request.
        var credential: Credential?
        /// The ``SessionValue`` sent with the request.
        var session: String?
        var hasNewSession = false
        var isCancelled = false
    }

    private let attempt: Mutex<Attempt>
    private let loop: HTTPLoop
    /// The request to repeat if its token is refused; nil for requests without one.
    private let request: HTTPRequest?
    private let bodyLimit: Int
    /// Keeps the client alive as long as its exchanges: its deinitialisation would cancel them.
    private let client: HTTPClient

    init(client: HTTPClient, request: HTTPRequest?, bodyLimit: Int) {
        attempt = Mutex(Attempt(state: Monitor(ExchangeState(bufferLimit: 1 << 20, bodyLimit: bodyLimit))))
        self.client = client
        self.request = request
        loop = client.loop
        self.bodyLimit = bodyLimit
    }

    deinit { cancel() }

    /// A body followed by zeros.
    public struct PaddedBody: Sendable {
        /// The body and ``HTTPExchange/padding`` zeros.
        public let bytes: [UInt8]
        /// The length of the body in bytes.
        public let count: Int
        /// An empty body.
        public static let empty = PaddedBody([])

        /// Copies bytes and appends zeros.
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

    /// Returns the head of the final response, after redirects, whatever its status.
    ///
    /// - Throws: `BridgeError`: no connection, no reply in time, TLS, malformed, a limit, cancelled.
    public func response() throws -> HTTPResponse {
        let response = try head()
        if refusesSession(response), restart(forSession: true) { return try self.response() }
        guard response.status == 401, !response.lostCredentials, restart() else { return response }
        let second = try head()
        return refusesSession(second) && restart(forSession: true) ? try head() : second
    }

    /// Whether the reply refuses the request and sends the missing session value: at most once per exchange.
    private func refusesSession(_ response: HTTPResponse) -> Bool {
        // A server that got no credentials is a stranger, whose values are not for the API.
        guard let session = client.session, request?.sendsCredentials == true else { return false }
        let (sent, isNew) = attempt.withLock { ($0.session, !$0.hasNewSession) }
        return session.learn(from: response, sent: sent) && isNew
    }

    /// Stores the ``SessionValue`` sent with the request.
    func use(session: String?) { attempt.withLock { $0.session = session } }

    var state: Monitor<ExchangeState> { attempt.withLock { $0.state } }

    /// Stores the token sent with the request.
    func use(_ credential: Credential) { attempt.withLock { $0.credential = credential } }

    /// Repeats the request with a new token or the reply's session value; returns false if it must not be repeated.
    private func restart(forSession: Bool = false) -> Bool {
        let fresh = Monitor(ExchangeState(bufferLimit: 1 << 20, bodyLimit: bodyLimit))
        let old = attempt.withLock { attempt -> (state: Monitor<ExchangeState>, stale: Credential?)? in
            guard request != nil, !attempt.isCancelled, forSession || attempt.credential != nil else { return nil }
            defer {
                attempt.state = fresh
                // Repeat once: a second refusal is final.
                if forSession { attempt.hasNewSession = true } else { attempt.credential = nil }
            }
            return (attempt.state, forSession ? nil : attempt.credential)
        }
        guard let (state, stale) = old, let request else { return false }
        end(state)
        // From here on, `cancel()` ends the new attempt, which is then not sent.
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

    /// Returns the next bytes of the body; nil at its clean end.
    ///
    /// - Throws: `BridgeError`; a truncated body throws after the bytes received.
    public func nextChunk() throws -> [UInt8]? { try nextChunk(within: nil) }

    /// Returns the next bytes of the body; nil at its clean end, and empty bytes if none arrive within so many seconds.
    ///
    /// - Throws: `BridgeError`; a truncated body throws after the bytes received.
    func nextChunk(within seconds: Double?) throws -> [UInt8]? {
        let arrived = try state.wait(seconds: seconds) { state -> (chunk: [UInt8]?, wasPaused: Bool)? in
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
        guard let arrived else { return [] }
        if arrived.wasPaused { loop.resume(state) }
        return arrived.chunk
    }

    /// Returns the beginning of the body without taking it, as far as it has arrived; empty for an empty body.
    package func bodyStart(_ limit: Int = 256) throws -> [UInt8] {
        try state.wait { state in
            if state.isCancelled { throw state.error ?? ExchangeState.cancelled }
            // The first four bytes tell gzip from zip, and may arrive one by one.
            if state.buffer.count >= 4 || state.isFinished && !state.buffer.isEmpty {
                return Array(state.buffer.prefix(limit))
            }
            if let error = state.error { throw error }
            return state.isFinished ? [] : nil
        }
    }

    /// Returns the rest of the body.
    ///
    /// - Throws: `BridgeError`; code `limit` above 64 MiB or the option `max_body_bytes`.
    public func body() throws -> [UInt8] { try collect() }

    /// Returns the rest of the body, followed by zeros; without a copy if the reply stated its length.
    public func paddedBody() throws -> PaddedBody {
        PaddedBody(padding: try collect())
    }

    /// Returns up to `limit` bytes of the body's beginning, for messages; ignores a truncated body.
    public func bodyPrefix(_ limit: Int = 16_384) -> [UInt8] {
        var prefix: [UInt8] = []
        while prefix.count < limit, let chunk = try? nextChunk() { prefix += chunk }
        cancel()
        return Array(prefix.prefix(limit))
    }

    /// Whether the server may have received the request; known once ``response()`` returned or threw.
    public var wasSent: Bool { state.withLock { $0.wasSent } }

    /// Ends the exchange; blocked calls throw `cancelled` at once.
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
