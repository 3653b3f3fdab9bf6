/// The reason why a bridge, or the host on its behalf, could not do what was asked.
///
/// No member holds a secret of the connection: the host replaces secrets with `***` before it creates a failure.
public struct BridgeFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure that callers and the user's rules distinguish: those of `bmo_bridge.h` and ``crashed``.
    public enum Code: String, Sendable, CaseIterable {
        /// An option is missing or invalid, or the bridge cannot be loaded.
        case configuration
        /// The remote does not recognize the credentials.
        case authentication
        /// The remote recognizes the credentials and denies access.
        case permission
        /// The requested thing does not exist.
        case notFound = "not_found"
        /// No connection to the remote.
        case unreachable
        /// The remote or the bridge did not answer in time.
        case timeout
        /// The remote's certificate or protocol version was refused.
        case tls
        /// The answer of the remote or the bridge violates the protocol.
        case malformed = "protocol"
        /// The remote reports an error of its own.
        case remote
        /// The remote asks the client to slow down.
        case rateLimited = "rate_limited"
        /// The bridge does not support the operation.
        case unsupported
        /// A limit on size, depth, time or count was exceeded.
        case limit
        /// The caller cancelled the operation.
        case cancelled
        /// The remote's object has changed since it was read.
        case conflict
        /// A bug in the bridge or in the host.
        case `internal`
        /// The bridge's process ended during a call.
        case crashed
    }

    /// The kind of failure.
    public var code: Code
    /// What failed, and on what.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The URL or path.
    public var location: String?
    /// The remote's error message.
    public var remote: String?
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// The delay that the remote asked for.
    public var retryAfter: Duration?
    /// The bridge's name in the configuration, or the plugin's name if it has none.
    public var bridge: String
    /// Whether the fetch delivered part of a page that it will deliver again.
    ///
    /// Roll back the open page, call ``RecordStream/reopen()`` and continue with ``RecordStream/next()``.
    public var breaksPage = false

    /// Creates a failure.
    public init(
        _ code: Code, _ message: String, bridge: String, remedy: String? = nil, location: String? = nil,
        remote: String? = nil, isRetryable: Bool = false, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.bridge = bridge
        self.remedy = remedy
        self.location = location
        self.remote = remote
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }

    /// The failure on one line: `registry: not_found: no such page (http://...); check the path`.
    public var description: String {
        var text = "\(bridge): \(code.rawValue): \(message)"
        if let location { text += " (\(location))" }
        if let remote { text += "; the remote says: \(remote)" }
        if let remedy { text += "; \(remedy)" }
        return text.onOneLine
    }

    static func cancelled(_ bridge: String) -> BridgeFailure {
        BridgeFailure(.cancelled, "cancelled", bridge: bridge)
    }
}

extension String {
    /// This text with line breaks and other control characters, which could forge lines or control a terminal, replaced
    /// by spaces.
    var onOneLine: String {
        guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(scalars)
    }

    /// Returns at most `limit` characters; the last is an ellipsis if the text was truncated.
    func cut(to limit: Int) -> String {
        // If the byte count is within the limit, so is the character count, which takes longer to compute.
        utf8.count <= limit || count <= limit ? self : String(prefix(limit - 1)) + "…"
    }
}
