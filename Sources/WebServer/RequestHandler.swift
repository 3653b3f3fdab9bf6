internal import NIOCore
internal import NIOHTTP1

/// Collects the request of a connection, has it answered, and closes the connection.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let progress: RequestProgress
    private let handler: @Sendable (WebRequest) async -> WebResponse
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isAnswered = false
    private var deadline: Scheduled<Void>?
    private var task: Task<Void, Never>?

    init(_ progress: RequestProgress, _ handler: @escaping @Sendable (WebRequest) async -> WebResponse) {
        self.progress = progress
        self.handler = handler
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(progress.limits.requestTime)) {
            let (handler, context) = bound.value
            handler.refuse(.tooSlow, context)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        task?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered, progress.part != .rest else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            progress.part = .body
            let size = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
            guard size <= progress.limits.headBytes else { return refuse(.headTooLarge, context) }
            let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
            guard length <= progress.limits.bodyBytes else { return refuse(.bodyTooLarge, context) }
            self.head = head
        case .body(let part):
            guard body.count + part.readableBytes <= progress.limits.bodyBytes else {
                return refuse(.bodyTooLarge, context)
            }
            body += part.readableBytesView
        case .end: answer(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The parser has its own limit on the number of header fields.
        let isTooLarge = error as? HTTPParserError == .headerOverflow
        refuse(error as? RequestFault ?? (isTooLarge ? .headTooLarge : .malformed), context)
    }

    private func answer(_ context: ChannelHandlerContext) {
        progress.part = .rest
        guard let head, head.version == .http1_1 || head.version == .http1_0,
            let request = WebRequest(
                method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) },
                body: body)
        else { return refuse(.malformed, context) }
        isAnswered = true
        deadline?.cancel()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let eventLoop = context.eventLoop
        task = Task { [handler] in
            let response = await handler(request)
            eventLoop.execute {
                let (handler, context) = bound.value
                handler.write(response, hasBody: request.method != "HEAD", context)
            }
        }
    }

    private func refuse(_ fault: RequestFault, _ context: ChannelHandlerContext) {
        guard !isAnswered else { return }
        isAnswered = true
        progress.part = .rest
        write(WebResponse(fault.status, text: fault.words + "\n"), hasBody: true, context)
    }

    private func write(_ response: WebResponse, hasBody: Bool, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(progress.limits.responseTime)) {
            channel.close(promise: nil)
        }
        var headers = HTTPHeaders(response.headers)
        headers.add(name: "Content-Length", value: String(response.body.count))
        headers.add(name: "Connection", value: "close")
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if hasBody, !response.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}
