/// What passes between a bridge and its remote, where it can be written down and played back.
///
/// A bridge hands each request and its answer to the tape of its context, or asks the tape for the answer where one is replayed.
/// BridgeHTTP does it for each bridge over HTTP.

/// One request to a remote, and what came of it.
public struct Exchange: Sendable, Equatable {
    /// What was asked.
    public struct Request: Sendable, Equatable {
        /// The method of HTTP, or a word of the protocol: `LIST`, `READ`.
        public var method: String
        /// The URL or path; secrets are taken out before it is compared or written.
        public var target: String
        /// What else says what is asked; names are compared without case, those that hold credentials by their names alone.
        public var headers: [Field]
        /// What goes along; empty for nothing.
        public var body: [UInt8]
        /// Whether both bodies are kept byte for byte, as with parts of files; others are laid out to be read.
        public var isExact: Bool

        /// A request.
        public init(
            method: String, target: String, headers: [Field] = [], body: [UInt8] = [], isExact: Bool = false
        ) {
            self.method = method
            self.target = target
            self.headers = headers
            self.body = body
            self.isExact = isExact
        }
    }

    /// A name and a value.
    public struct Field: Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// A name and a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What came back.
    public enum Reply: Sendable, Equatable {
        /// The remote answered.
        case answer(status: String, headers: [Field], body: [UInt8])
        /// No answer came.
        case failure(code: BridgeError.Code, message: String, isRetryable: Bool)
    }

    /// What was asked.
    public var request: Request
    /// What came back.
    public var reply: Reply

    /// A request and its reply.
    public init(request: Request, reply: Reply) {
        self.request = request
        self.reply = reply
    }
}

/// Whose request it is: the fetch that the host's call belongs to.
final class ExchangeScope: @unchecked Sendable {
    // Calls of one fetch come from one thread at a time; what a bridge's own threads ask has no scope.
    let entity: String
    /// Whether asking twice changes nothing.
    let isReading: Bool
    /// While the bridge asks for something that is no step of the walk.
    var isAside = false

    @TaskLocal static var current: ExchangeScope?

    init(entity: String, isReading: Bool) {
        self.entity = entity
        self.isReading = isReading
    }
}

extension BridgeContext {
    /// Runs `body`, whose requests are no steps of the walk that it belongs to, such as for a description of the service.
    ///
    /// Only a recording cares: it counts the requests of a walk.
    public func aside<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let scope = ExchangeScope.current else { return try body() }
        scope.isAside = true
        defer { scope.isAside = false }
        return try body()
    }
}
