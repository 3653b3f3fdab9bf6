public import BridgeKit

/// Makes HTTP requests with one set of options; connections are kept and shared.
///
/// All of a client's transfers run on one I/O thread of its own, which ends with the client and its last exchange. Any thread may start
/// requests; several run at a time.
///
/// ```swift
/// let client = try HTTPClient(options: HTTPOptions(options), context: context)
/// let exchange = client.start(HTTPRequest(url: "https://api.example/users"))
/// guard try exchange.response().status == 200 else { throw try exchange.statusError(asked: "users") }
/// while let chunk = try exchange.nextChunk() { ... }
/// ```
public final class HTTPClient: Sendable {
    /// Takes the options' secrets out of text.
    public let redactor: HTTPRedactor
    let options: HTTPOptions
    let loop: HTTPLoop
    private let authenticator: Authenticator?
    let session: SessionValue?
    /// Where exchanges are written down or come from.
    let tape: ExchangeTape?
    private static let streamedLimit = 1 << 30
    private static let wholeLimit = 256 << 20

    /// A client; nothing connects yet.
    ///
    /// - Throws: ``BridgeError`` when libcurl cannot be set up.
    public init(options: HTTPOptions, context: BridgeContext) throws {
        self.options = options
        // A replay needs no certificates.
        if context.exchange == nil { try options.checkFiles() }
        let redactor = options.redactor
        self.redactor = redactor
        tape = context.exchange
        if let header = options.sessionHeader { tape?.hide(header: header) }
        session = options.sessionHeader.map { SessionValue($0, redactor: redactor) }
        loop = try HTTPLoop(RateLimiter(rate: options.requestsPerSecond, concurrency: options.concurrency))
        if case .granted(let grant) = options.authentication {
            authenticator = Authenticator(grant, redactor: redactor, tape: context.exchange)
        } else {
            authenticator = nil
        }
        if !options.verifies {
            context.log(.warning, "tls.verify is false: certificates are not checked")
        }
    }

    deinit { loop.stop() }

    /// Starts a request; what goes wrong is thrown by the exchange.
    ///
    /// Blocks while a token is got that the request needs. A reply 401 to a request with such a token is asked for once
    /// more with a new one.
    public func start(_ request: HTTPRequest) -> HTTPExchange {
        let exchange = HTTPExchange(client: self, request: request, bodyLimit: options.maxBodyBytes ?? Self.wholeLimit)
        begin(exchange, request)
        return exchange
    }

    /// Begins an exchange, or begins it again with a credential that is not `stale`.
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

    /// A request of our own, such as for a token: without credentials, and without waiting for others.
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
        // While a token was got.
        if isCancelled { return }
        let transfer = try HTTPTransfer(
            request, options: options, credential: credential, redactor: redactor, state: state, isLimited: isLimited)
        // What is not limited asks for a token.
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
        options.headers.contains { $0.name.lowercased() == name.lowercased() }
    }

    /// Whether requests are to be made one after the other, none ahead: a recording has an order.
    public var keepsOrder: Bool { tape != nil }

    /// How long all requests of one walk may take together.
    public var totalTime: Duration? { options.totalTime }

    /// Gets new credentials, where they are of a kind that can be got anew; whether they were.
    public func renewCredentials() -> Bool {
        guard let authenticator else { return false }
        return (try? authenticator.credential(replacing: authenticator.current, send: startPlain)) != nil
    }

    /// The URL without what the options add to it as a credential: fit for storing.
    public func withoutCredentials(_ url: HTTPURL) -> HTTPURL {
        guard let query = options.authentication.credential.query else { return url }
        return url.removing(queryNames: [query.name])
    }
}
