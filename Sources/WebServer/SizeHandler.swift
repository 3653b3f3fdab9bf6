internal import NIOCore

/// Ends a connection whose request head is too large before the parser collects it.
final class SizeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let progress: RequestProgress

    init(_ progress: RequestProgress) { self.progress = progress }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Ignores bytes after the request, because a connection carries only one.
        guard progress.part != .rest else { return }
        let buffer = unwrapInboundIn(data)
        // These bytes may include the start of the body: RequestHandler then checks the size of the head.
        let isShort = progress.receive(buffer.readableBytes)
        context.fireChannelRead(wrapInboundOut(buffer))
        if !isShort, progress.part == .head { context.fireErrorCaught(RequestFault.headTooLarge) }
    }
}

/// Why a request is refused before it is complete.
enum RequestFault: Error {
    case headTooLarge, bodyTooLarge, tooSlow, malformed

    /// The status code (RFC 9110, section 15; RFC 6585).
    var status: Int {
        switch self {
        case .headTooLarge: 431
        case .bodyTooLarge: 413
        case .tooSlow: 408
        case .malformed: 400
        }
    }

    var words: String {
        switch self {
        case .headTooLarge: "The request line and the header fields are too long."
        case .bodyTooLarge: "The form is too large."
        case .tooSlow: "The request did not arrive in time."
        case .malformed: "The request is not valid HTTP/1.1."
        }
    }
}
