/// The reason why the remote did not accept an edit.
public struct OutboxFailure: Sendable, Equatable {
    /// The kind of failure, as in `bmo_bridge.h`.
    public var code: String
    /// The operation that failed, and its object.
    public var message: String
    /// What the user can do about it.
    public var remedy: String?
    /// The remote's own message.
    public var remote: String?
    /// Whether the remote may have carried out the edit all the same; of one that waits to be sent again.
    public var mayHaveArrived: Bool

    /// Creates a failure.
    public init(
        code: String, message: String, remedy: String? = nil, remote: String? = nil, mayHaveArrived: Bool = false
    ) {
        self.code = code
        self.message = message
        self.remedy = remedy
        self.remote = remote
        self.mayHaveArrived = mayHaveArrived
    }
}
