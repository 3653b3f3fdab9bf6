public import BridgeContract

/// The reason why a bridge, or the host on its behalf, could not do what was asked.
///
/// No member holds a secret of the connection: the host replaces secrets with `***` before it creates a failure.
public struct BridgeFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure that callers and the user's rules distinguish.
    public typealias Code = BridgeError.Code

    /// The error in the form of the contract.
    private(set) var error: BridgeError
    /// The kind of failure.
    public var code: Code {
        get { error.code }
        set { error.code = newValue }
    }
    /// What failed, and on what.
    public var message: String {
        get { error.message }
        set { error.message = newValue }
    }
    /// What the user can do about it.
    public var remedy: String? {
        get { error.remedy }
        set { error.remedy = newValue }
    }
    /// The URL or path.
    public var location: String? {
        get { error.location }
        set { error.location = newValue }
    }
    /// The remote's error message.
    public var remote: String? {
        get { error.remote }
        set { error.remote = newValue }
    }
    /// Whether the same call may succeed later.
    public var isRetryable: Bool {
        get { error.isRetryable }
        set { error.isRetryable = newValue }
    }
    /// The delay that the remote asked for.
    public var retryAfter: Duration? {
        get { error.retryAfterMilliseconds.map { .milliseconds($0) } }
        set { error.retryAfterMilliseconds = newValue.map { Int64($0 / .milliseconds(1)) } }
    }
    /// Whether what the scan returned is out of date, so that it must start from the beginning.
    public var startsOver: Bool {
        get { error.startsOver }
        set { error.startsOver = newValue }
    }
    /// Whether the remote may have made the change of a write that can be sent again.
    public var mayHaveArrived: Bool {
        get { error.mayHaveArrived }
        set { error.mayHaveArrived = newValue }
    }
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
        error = BridgeError(
            code, message, remedy: remedy, location: location, remote: remote, isRetryable: isRetryable)
        self.bridge = bridge
        self.retryAfter = retryAfter
    }

    /// The failure on one line: `registry: not_found: no such page (http://...); check the path`.
    public var description: String { "\(bridge): \(error)".onOneLine }

    static func cancelled(_ bridge: String) -> BridgeFailure {
        BridgeFailure(.cancelled, "cancelled", bridge: bridge)
    }
}

extension String {
    /// This text with line breaks and other control characters, which could forge lines or control a terminal, replaced
    /// by spaces.
    var onOneLine: String {
        // The category Cc of Unicode: stable, and without a look into its tables.
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }
        guard unicodeScalars.contains(where: isControl) else { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            scalars.append(isControl(scalar) ? " " : scalar)
        }
        return String(scalars)
    }

    /// Returns at most `limit` characters; the last is an ellipsis if the text was truncated.
    func cut(to limit: Int) -> String {
        // If the byte count is within the limit, so is the character count, which takes longer to compute.
        utf8.count <= limit || count <= limit ? self : String(prefix(limit - 1)) + "…"
    }
}
