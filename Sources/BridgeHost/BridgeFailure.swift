/// Why a bridge, or the host on its behalf, could not do what was asked.
///
/// No member holds a secret of the connection: the host replaces them by `***` before it makes one of these.
public struct BridgeFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure that a caller and a user's rules tell apart; those of `bmo_bridge.h` and ``crashed``.
    public enum Code: String, Sendable, CaseIterable {
        /// An option is missing or makes no sense, or the bridge can't be loaded.
        case configuration
        /// The remote does not know who we are.
        case authentication
        /// The remote knows who we are, and refuses.
        case permission
        /// The thing that was asked for is not there.
        case notFound = "not_found"
        /// No connection to the remote.
        case unreachable
        /// No answer in time, from the remote or from the bridge.
        case timeout
        /// The remote's certificate or protocol version was refused.
        case tls
        /// The remote's or the bridge's answer is not what the protocol says.
        case malformed = "protocol"
        /// The remote reports a failure of its own.
        case remote
        /// The remote asks for fewer requests.
        case rateLimited = "rate_limited"
        /// The bridge cannot do that.
        case unsupported
        /// A limit on size, depth, time or count.
        case limit
        /// The caller asked to stop.
        case cancelled
        /// The remote's object is not the one that was read before.
        case conflict
        /// A defect of the bridge or of the host.
        case `internal`
        /// The bridge's process ended in the middle of a call.
        case crashed
    }

    /// The kind of failure.
    public var code: Code
    /// What failed, on which thing.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The URL or path.
    public var location: String?
    /// The remote's own words.
    public var remote: String?
    /// Whether the same call may succeed later.
    public var isRetryable: Bool
    /// How long the remote asked to wait.
    public var retryAfter: Duration?
    /// The bridge's name in the configuration, or the plugin's where there is none.
    public var bridge: String
    /// Whether part of a page was delivered that the fetch will deliver again.
    ///
    /// Roll the open page back, call ``RecordStream/reopen()`` and go on with ``RecordStream/next()``.
    public var breaksPage = false

    /// Describes a failure.
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
    /// This text without line breaks and other control characters, which could forge lines or steer a terminal.
    var onOneLine: String {
        guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            scalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(scalars)
    }

    /// At most `limit` characters, the last one an ellipsis where something is cut off.
    func cut(to limit: Int) -> String {
        // A byte count below the limit spares counting characters.
        utf8.count <= limit || count <= limit ? self : String(prefix(limit - 1)) + "…"
    }
}
