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
    /// The end of the time for all parts of a response.
    private var lastDeadline: Scheduled<Void>?
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
        lastDeadline?.cancel()
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
        let connection = Connection(bound: bound, eventLoop: eventLoop)
        let hasBody = request.method != "HEAD"
        task = Task { [handler] in
            let response = await handler(request)
            if hasBody, response.stream != nil || response.body.count > RequestHandler.partBytes {
                await connection.writeParts(response)
            } else {
                connection.write(response, hasBody: hasBody)
            }
        }
    }

    private func refuse(_ fault: RequestFault, _ context: ChannelHandlerContext) {
        guard !isAnswered else { return }
        isAnswered = true
        progress.part = .rest
        write(WebResponse(fault.status, text: fault.words + "\n"), hasBody: true, context)
    }

    // MARK: Parts

    /// The number of bytes of a body that a client must take in the time for a part.
    private static let partBytes = 64 << 10

    /// A part of a response that is written part by part.
    private enum ResponsePart: Sendable {
        /// The status and the header fields; without a length, the encoder sends chunks (RFC 9112, section 7.1).
        case head(WebResponse, length: Int?)
        case body([UInt8])
        case end
    }

    /// The handler of a connection, for tasks.
    private struct Connection: Sendable {
        let bound: NIOLoopBound<(handler: RequestHandler, context: ChannelHandlerContext)>
        let eventLoop: any EventLoop

        func write(_ response: WebResponse, hasBody: Bool) {
            eventLoop.execute {
                let (handler, context) = bound.value
                handler.write(response, hasBody: hasBody, context)
            }
        }

        /// Writes a response part by part, each after the client has taken the one before.
        func writeParts(_ response: WebResponse) async {
            do {
                try await write(.head(response, length: response.stream == nil ? response.body.count : nil))
                for start in stride(from: 0, to: response.body.count, by: RequestHandler.partBytes) {
                    let end = min(start + RequestHandler.partBytes, response.body.count)
                    try await write(.body(Array(response.body[start..<end])))
                }
                while !Task.isCancelled, let part = await response.stream?.next() { try await write(.body(part)) }
                try await write(.end)
            } catch {
                // The client has gone, or was too slow.
            }
        }

        private func write(_ part: ResponsePart) async throws {
            let written = eventLoop.flatSubmit { () -> EventLoopFuture<Void> in
                let (handler, context) = bound.value
                return handler.write(part, context)
            }
            try await written.get()
        }
    }

    private func write(_ part: ResponsePart, _ context: ChannelHandlerContext) -> EventLoopFuture<Void> {
        let channel = context.channel
        guard channel.isActive else { return context.eventLoop.makeFailedFuture(ChannelError.alreadyClosed) }
        deadline?.cancel()
        deadline = context.eventLoop.scheduleTask(in: TimeAmount(progress.limits.responseTime)) {
            channel.close(promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in bound.value.deadline?.cancel() }
        switch part {
        case .head(let response, let length):
            var headers = HTTPHeaders(response.headers)
            if let length {
                headers.add(name: "Content-Length", value: String(length))
                // Else a client that takes each part at the last moment would have its place for hours.
                let time = progress.limits.responseTime + .seconds(length / progress.limits.responseRate)
                lastDeadline = context.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
            }
            headers.add(name: "Connection", value: "close")
            let head = HTTPResponseHead(
                version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: written)
        case .body(let bytes):
            context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: written)
        case .end:
            written.futureResult.whenComplete { _ in channel.close(promise: nil) }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        }
        return written.futureResult
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
