internal import RecordBatch

/// Why a bridge could not do what it was asked.
public struct BridgeError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure that the host and a user's rules tell apart.
    public enum Code: String, Sendable, CaseIterable {
        /// An option is missing or makes no sense.
        case configuration
        /// The remote does not know who we are (401, a wrong password).
        case authentication
        /// The remote knows who we are, and refuses (403).
        case permission
        /// The thing that was asked for is not there (404, no such share).
        case notFound = "not_found"
        /// No connection: name, route, port, refused.
        case unreachable
        /// No answer in time.
        case timeout
        /// The connection's certificate or protocol version was refused.
        case tls
        /// The reply is not what the protocol says: malformed JSON or XML, truncated, a web page.
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
        /// The remote's object is not the one that was read before (409, 412).
        case conflict
        /// A defect of the bridge.
        case `internal`
    }

    /// The kind of failure.
    public var code: Code
    /// What failed, on which thing.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The URL or path, without secrets.
    public var location: String?
    /// The remote's own words; cut to 1,000 characters on their way to the host.
    public var remote: String?
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// How long the remote asked to wait, in milliseconds.
    public var retryAfterMilliseconds: Int64?

    /// Describes a failure.
    public init(
        _ code: Code, _ message: String, remedy: String? = nil, location: String? = nil, remote: String? = nil,
        isRetryable: Bool = false, retryAfterMilliseconds: Int64? = nil
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.location = location
        self.remote = remote
        self.isRetryable = isRetryable
        self.retryAfterMilliseconds = retryAfterMilliseconds
    }

    /// The error on one line.
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let location { text += " (\(location))" }
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text
    }

    func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.key("code")
            writer.text(code.rawValue)
            writer.key("message")
            writer.text(message)
            writer.member("remedy", remedy)
            writer.member("location", location)
            writer.member("remote", remote.map { String($0.prefix(1000)) })
            writer.member("retryable", isRetryable)
            writer.member("retry_after", retryAfterMilliseconds.map(Int.init))
        }
    }
}
