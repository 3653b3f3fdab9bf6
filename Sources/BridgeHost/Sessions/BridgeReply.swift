/// The outcome of a call.
enum BridgeReply: Sendable {
    /// The bridge's output, or records and page; not validated.
    case done(ForeignBytes?, ForeignBytes?)
    /// A failure reported by the bridge, in bytes that should be an error batch; not validated.
    case failed(ForeignBytes?)
    /// No answer: the bridge crashed, took too long or was cancelled.
    case lost(BridgeFailure)
}
