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
    private static let streamedLimit = 1 << 30
    private static let wholeLimit = 256 << 20

    /// A client; nothing connects yet.
    ///
    /// - Throws: ``BridgeError`` when libcurl cannot be set up.
    public init(options: HTTPOptions, context: BridgeContext) throws {
        self.options = options
        redactor = options.redactor
        loop = try HTTPLoop()
        if !options.verifies {
            context.log(.warning, "tls.verify is false: certificates are not checked")
        }
    }

    deinit { loop.stop() }

    /// Starts a request; what goes wrong is thrown by the exchange.
    public func start(_ request: HTTPRequest) -> HTTPExchange {
        let state = Monitor(
            ExchangeState(
                bufferLimit: request.bufferLimit, bodyLimit: options.maxBodyBytes ?? Self.streamedLimit))
        let exchange = HTTPExchange(
            state: state, client: self, bodyLimit: options.maxBodyBytes ?? Self.wholeLimit)
        do {
            loop.start(try HTTPTransfer(request, options: options, redactor: redactor, state: state))
        } catch {
            state.withLock { state in
                state.error = error
                state.isFinished = true
            }
        }
        return exchange
    }

    /// Whether the options set this header field; names are compared without case.
    public func sendsHeader(_ name: String) -> Bool {
        options.headers.contains { $0.name.lowercased() == name.lowercased() }
    }

    /// How long all requests of one walk may take together.
    public var totalTime: Duration? { options.totalTime }

    /// Gets new credentials, where they are of a kind that can be got anew; whether they were.
    public func renewCredentials() -> Bool { false }

    /// The URL without what the options add to it as a credential: fit for storing.
    public func withoutCredentials(_ url: HTTPURL) -> HTTPURL {
        guard let query = options.authentication.query else { return url }
        return url.removing(queryNames: [query.name])
    }
}
