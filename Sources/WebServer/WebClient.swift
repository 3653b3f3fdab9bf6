internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A client that posts one body over HTTP/1.1 without TLS, such as to a collector of metrics on this machine.
package enum WebClient {
    /// Where to post to.
    package struct Target: Sendable, Equatable {
        /// The host name or address.
        package var host: String
        /// The TCP port.
        package var port: Int
        /// The path, percent-encoded.
        package var path: String

        /// Creates a target.
        package init(host: String, port: Int, path: String) {
            self.host = host
            self.port = port
            self.path = path
        }
    }

    /// The reason why no reply came.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// What happened.
        package let description: String
    }

    /// Posts a body.
    ///
    /// - Parameter timeout: The time for the connection, the request and the head of the reply together.
    /// - Returns: The status of the reply, whose body is not read.
    /// - Throws: ``Failure``.
    package static func post(
        _ body: [UInt8], to target: Target, headers: [(name: String, value: String)], timeout: Duration
    ) async throws -> Int {
        let end = ContinuousClock.now + timeout
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(timeout))
                .connect(host: target.host, port: target.port).get()
        } catch {
            throw Failure(description: "no connection to \(target.host), port \(target.port): \(words(error))")
        }
        let status = channel.eventLoop.makePromise(of: Int.self)
        let late = channel.eventLoop.scheduleTask(in: TimeAmount(end - .now)) {
            status.fail(Failure(description: "no reply within \(timeout)"))
        }
        status.futureResult.whenComplete { _ in
            late.cancel()
            channel.close(promise: nil)
        }
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: target.path)
        head.headers = HTTPHeaders(headers)
        head.headers.replaceOrAdd(name: "Host", value: "\(target.host):\(target.port)")
        head.headers.replaceOrAdd(name: "Content-Length", value: String(body.count))
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        do {
            try await channel.eventLoop.submit {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(StatusHandler(status))
            }.get()
        } catch {
            status.fail(error)
        }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        do {
            return try await status.futureResult.get()
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: words(error))
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words($0.error) } ?? "the host has no address"
        case let error as IOError: WebServer.words(error.errnoCode)
        case ChannelError.connectTimeout: "it was not accepted in time"
        default: "\(error)"
        }
    }
}

/// Takes the status of a reply.
private final class StatusHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let status: EventLoopPromise<Int>

    init(_ status: EventLoopPromise<Int>) { self.status = status }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { status.succeed(Int(head.status.code)) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { status.fail(error) }

    func channelInactive(context: ChannelHandlerContext) {
        status.fail(WebClient.Failure(description: "the connection was closed without a reply"))
    }
}
