// An HTTP/1.1 server for a page that few people use at a time. Each connection carries one request: it is read whole,
// within limits of size and time, answered, and closed. So one client's bytes are never read as another request.
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// An HTTP server on a TCP port or a Unix socket.
///
/// ```swift
/// let server = WebServer(address: .tcp(host: "127.0.0.1", port: 8080)) { request in
///     WebResponse(200, text: "hello")
/// }
/// try await server.run { print("listening on port \($0 ?? 0)") }
/// ```
package struct WebServer: Sendable {
    /// Where a server listens.
    package enum Address: Sendable, Equatable {
        /// A TCP port of an IP address; port 0 stands for any free port.
        case tcp(host: String, port: Int)
        /// A Unix socket, whose file must not exist.
        case unix(path: String)
    }

    /// An error for an address that the server cannot listen on.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// The address, the reason and the remedy.
        package let description: String
    }

    private let address: Address
    private let limits: ServerLimits
    private let handler: @Sendable (WebRequest) async -> WebResponse

    /// Creates a server.
    ///
    /// - Parameter handler: Answers a request; called from any thread, for several requests at a time.
    package init(
        address: Address, limits: ServerLimits = ServerLimits(),
        handler: @escaping @Sendable (WebRequest) async -> WebResponse
    ) {
        self.address = address
        self.limits = limits
        self.handler = handler
    }

    /// Listens until the task is cancelled.
    ///
    /// - Parameter onStart: Called once, with the TCP port.
    /// - Throws: ``Failure`` if the server cannot listen on the address.
    package func run(onStart: (Int?) async -> Void) async throws {
        let channel = try await listen()
        await onStart(channel.localAddress?.port)
        await withTaskCancellationHandler {
            _ = try? await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }

    private func listen() async throws -> any Channel {
        let (limits, handler) = (limits, handler)
        let count = ConnectionCount(limit: limits.connections)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 128)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                guard count.take() else { return channel.close() }
                channel.closeFuture.whenComplete { _ in count.release() }
                return channel.eventLoop.makeCompletedFuture {
                    let progress = RequestProgress(limits)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(SizeHandler(progress))
                    try pipeline.configureHTTPServerPipeline(
                        withPipeliningAssistance: false, withServerUpgrade: nil, withErrorHandling: false)
                    try pipeline.addHandler(RequestHandler(progress, handler))
                }
            }
        do {
            switch address {
            case .tcp(let host, let port): return try await bootstrap.bind(host: host, port: port).get()
            case .unix(let path): return try await bootstrap.bind(unixDomainSocketPath: path).get()
            }
        } catch let error as IOError {
            throw Failure(description: "bmo cannot listen on \(name): \(Self.words(error.errnoCode))")
        } catch {
            throw Failure(description: "bmo cannot listen on \(name): \(error)")
        }
    }

    private var name: String {
        switch address {
        case .tcp(let host, let port): "\(host), port \(port)"
        case .unix(let path): path
        }
    }
}
