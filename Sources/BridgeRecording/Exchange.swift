public import BridgeContract

/// The exchanges between a bridge and its remote, in a form that can be recorded and replayed.
///
/// A bridge passes each request and its reply to the tape of its context, or asks the tape for the reply during a
/// replay. BridgeHTTP does so for every bridge over HTTP.

/// One request to a remote, and its outcome.
public struct Exchange: Sendable, Equatable {
    /// The request.
    public struct Request: Sendable, Equatable {
        /// The HTTP method, or a word of another protocol: `LIST`, `READ`.
        public var method: String
        /// The URL or path; secrets are removed before it is compared or written.
        public var target: String
        /// Further fields of the request.
        ///
        /// Names are compared without case; fields that hold credentials only by their names.
        public var headers: [Field]
        /// The body; empty for none.
        public var body: [UInt8]
        /// Whether both bodies are kept byte for byte, such as parts of files; others are formatted for reading.
        public var isExact: Bool

        /// Creates a request.
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

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The outcome of a request.
    public enum Reply: Sendable, Equatable {
        /// The remote answered.
        case answer(status: String, headers: [Field], body: [UInt8])
        /// No reply came.
        case failure(code: BridgeError.Code, message: String, isRetryable: Bool)
    }

    /// The request.
    public var request: Request
    /// The outcome.
    public var reply: Reply

    /// Creates an exchange.
    public init(request: Request, reply: Reply) {
        self.request = request
        self.reply = reply
    }
}
