public import BridgeKit
internal import SystemCalls

/// Makes HTTP requests with one set of options; connections are kept and shared.
///
/// All of a client's transfers run on one I/O thread of its own, which ends with the client and its last exchange. Any
/// thread may start requests; several can run in parallel.
///
/// ```swift
/// let client = try HTTPClient(options: HTTPOptions(options), context: context)
/// let exchange = client.start(HTTPRequest(url: "https://api.example/users"))
/// guard try exchange.response().status == 200 else { throw try exchange.statusError(asked: "users") }
/// while let chunk = try exchange.nextChunk() { ... }
/// ```
public final class HTTPClient: Sendable {
    /// Removes the options' secrets from text.
    public let redactor: HTTPRedactor
    let options: HTTPOptions
    let loop: HTTPLoop
    private let authenticator: Authenticator?
    let session: SessionValue?
    /// The tape that records or replays exchanges.
    let tape: ExchangeTape?
    private static let streamedLimit = 1 << 30
    /// The limit for bodies read in one piece, which stay in memory together with the values made from them.
    private static let wholeLimit = 64 << 20

    /// Creates a client; nothing connects yet.
    ///
    /// - Throws: `BridgeError` if libcurl cannot be set up.
    public init(options: HTTPOptions, context: BridgeContext) throws {
        self.options = options
        // A replay needs no certificates.
        if context.exchange == nil { try options.checkFiles() }
        let redactor = options.redactor
        self.redactor = redactor
        redactor.tell(options.fileSecrets) { context.learn(secret: $0) }
        tape = context.exchange
        for secret in options.fileSecrets { tape?.hide(secret: secret) }
        if let header = options.sessionHeader { tape?.hide(header: header) }
        session = options.sessionHeader.map { SessionValue($0, redactor: redactor) }
        let sharing: RateLimiter.Sharing =
            options.shareFile == nil ? .nothing : options.hasConcurrency ? .rateAndConcurrency : .rate
        loop = try HTTPLoop(
            RateLimiter(rate: options.requestsPerSecond, concurrency: options.concurrency, sharing: sharing),
            share: options.limitShare(), measure: context.measure)
        if case .granted(let grant) = options.authentication {
            authenticator = Authenticator(grant, redactor: redactor, context: context)
        } else {
            authenticator = nil
        }
        if !options.verifies {
            context.log(.warning, "tls.verify is false: certificates are not checked")
        }
    }

    deinit { loop.stop() }

    /// Starts a request; the exchange throws its errors.
    ///
    /// Blocks while the request's token is obtained. A request whose token is refused with 401 is repeated once with a
    /// new token.
    public func start(_ request: HTTPRequest) -> HTTPExchange {
        let exchange = HTTPExchange(client: self, request: request, bodyLimit: maxBodyBytes)
        begin(exchange, request)
        return exchange
    }

    /// Begins an exchange, or restarts it with a credential other than `stale`.
    func begin(_ exchange: HTTPExchange, _ request: HTTPRequest, replacing stale: Credential? = nil) {
        let state = exchange.state
        do {
            var credential = options.authentication.credential
            if let authenticator, request.sendsCredentials {
                credential = try authenticator.credential(replacing: stale, send: startPlain)
                exchange.use(credential)
            }
            exchange.use(session: session?.current)
            try launch(session?.add(to: request) ?? request, credential, state, isLimited: true)
        } catch {
            fail(state, error)
        }
    }

    /// Starts a request of our own, such as for a token: without credentials, and without queueing.
    private func startPlain(_ request: HTTPRequest) -> HTTPExchange {
        var request = request
        request.sendsOptions = false
        let exchange = HTTPExchange(client: self, request: nil, bodyLimit: 1 << 20)
        do {
            try launch(request, .none, exchange.state, isLimited: false)
        } catch {
            fail(exchange.state, error)
        }
        return exchange
    }

    private func launch(
        _ request: HTTPRequest, _ credential: Credential, _ state: Monitor<ExchangeState>, isLimited: Bool
    ) throws {
        let isCancelled = state.withLock { state in
            state.bufferLimit = request.bufferLimit
            state.bodyLimit = options.maxBodyBytes ?? Self.streamedLimit
            return state.isFinished
        }
        // It may have been cancelled while a token was obtained.
        if isCancelled { return }
        let transfer = try HTTPTransfer(
            request, options: options, credential: credential, redactor: redactor, state: state, isLimited: isLimited)
        // Only token requests are exempt from limits.
        if let tape, try rerun(request, credential, on: tape, state, isToken: !isLimited) { return }
        loop.start(transfer)
    }

    private func fail(_ state: Monitor<ExchangeState>, _ error: any Error) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.error = error as? BridgeError ?? BridgeError(.internal, "\(error)")
            state.isFinished = true
        }
        state.signal()
    }

    /// Whether the options set this header field; names are compared without case.
    public func sendsHeader(_ name: String) -> Bool {
        options.headers.contains { $0.name.isSameField(as: name) }
            || options.authentication.credential.headers.contains { $0.name.isSameField(as: name) }
    }

    /// Whether requests must run one after the other, without prefetching: a recording has an order.
    public var keepsOrder: Bool { tape != nil }

    /// The options' time limits for the remote.
    public var timing: HTTPTiming { options.timing }

    /// The largest body in one piece, in bytes.
    public var maxBodyBytes: Int { options.maxBodyBytes ?? Self.wholeLimit }

    /// The option `max_body_bytes`; nil if it is not set.
    package var givenMaxBodyBytes: Int? { options.maxBodyBytes }

    /// Whether exchanges come from a recording, in which no time passes.
    package var isReplaying: Bool { tape?.isReplaying == true }

    /// The most memory that one record may take, in bytes.
    public var maxRecordBytes: Int { options.maxRecordBytes }

    /// The time limit for all requests of one scan together.
    public var totalTime: Duration? { options.totalTime }

    /// Treats the longer values of a URL's query as secrets: those of a signed link.
    package func hide(queryOf url: HTTPURL) {
        let values = url.queryPairs.map(\.value).filter { $0.utf8.count >= 12 }
        redactor.learn(values)
        for value in values { tape?.hide(secret: value) }
    }

    /// Renews credentials; returns false if they are of a kind that cannot be renewed.
    ///
    /// - Throws: `BridgeError` of the token endpoint: one that is out of order may be asked again.
    public func renewCredentials() throws -> Bool {
        guard let authenticator else { return false }
        _ = try authenticator.credential(replacing: authenticator.current, send: startPlain)
        return true
    }

    /// Returns the URL without the credential that the options add to it: safe to store.
    public func withoutCredentials(_ url: HTTPURL) -> HTTPURL {
        guard let query = options.authentication.credential.query else { return url }
        return url.removing(queryNames: [query.name])
    }
}
