internal import BridgeKit

/// The state shared by the I/O thread and the reader of an exchange.
struct ExchangeState {
    /// The number of zero bytes appended to a whole body, for which the buffer keeps room.
    static let padding = 64

    var response: HTTPResponse?
    /// Bytes received but not yet read.
    var buffer: [UInt8] = []
    var bufferLimit: Int
    var bodyLimit: Int
    /// Whether the reader waits only for the end, so that it is not woken for each piece.
    var wantsWhole = false
    var isPaused = false
    /// Whether at least the head of the request was sent.
    var wasSent = false
    var isFinished = false
    var isCancelled = false
    var error: BridgeError?
    /// Records the exchange; usually nil.
    var recorder: ExchangeRecorder?

    static let cancelled = BridgeError(.cancelled, "the request was cancelled")
}
