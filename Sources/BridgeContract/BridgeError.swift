/// The reason why a bridge could not complete a call.
public struct BridgeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure that the host and a user's rules distinguish.
    public enum Code: String, Sendable, CaseIterable {
        /// An option is missing or invalid.
        case configuration
        /// The remote does not accept our identity (401, a wrong password).
        case authentication
        /// The remote accepts our identity, and refuses access (403).
        case permission
        /// The requested thing does not exist (404, no such share).
        case notFound = "not_found"
        /// No connection: name, route, port, refused.
        case unreachable
        /// No answer in time.
        case timeout
        /// The connection's certificate or protocol version was refused.
        case tls
        /// The reply violates the protocol: malformed JSON or XML, truncated, a web page.
        case malformed = "protocol"
        /// The remote reports a failure of its own (5xx, a SOAP fault).
        case remote
        /// The remote asks for fewer requests (429).
        case rateLimited = "rate_limited"
        /// This bridge cannot do that.
        case unsupported
        /// A limit on size, depth, time or count.
        case limit
        /// The host asked to stop.
        case cancelled
        /// The remote's object differs from the one that was read before (409, 412).
        case conflict
        /// A defect of the bridge.
        case `internal`
        /// The bridge's process ended during a call: only the host reports it.
        case crashed
    }

    /// The kind of failure.
    public var code: Code
    /// What failed, and on which object.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The URL or path, without secrets.
    public var location: String?
    /// The remote's own words; the kit cuts them to 1,000 characters.
    public var remote: String?
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// How long the remote asked us to wait, in milliseconds.
    public var retryAfterMilliseconds: Int64?
    /// Whether what this scan returned is out of date, such as the rows of a file that was replaced meanwhile. (1.2)
    ///
    /// The host then forgets what the scan listed, and fetches everything from the beginning, at most three times.
    public var startsOver: Bool
    /// Whether the remote may have made the change of a write all the same. (1.2)
    ///
    /// Of a retryable error: the write is sent again without a look at the remote, and is not rolled back here before.
    public var mayHaveArrived: Bool

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, remedy: String? = nil, location: String? = nil, remote: String? = nil,
        isRetryable: Bool = false, retryAfterMilliseconds: Int64? = nil, startsOver: Bool = false,
        mayHaveArrived: Bool = false
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.location = location
        self.remote = remote
        self.isRetryable = isRetryable
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.startsOver = startsOver
        self.mayHaveArrived = mayHaveArrived
    }

    /// The error on one line.
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let location { text += " (\(location))" }
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text
    }
}
