import Foundation
import Synchronization
import TestSupport
import Testing
import WebServer

/// The server alone, against clients that speak HTTP badly.
@Suite struct WebServerTests {
    private static var limits: ServerLimits {
        var limits = ServerLimits()
        limits.requestTime = .milliseconds(700)
        limits.connections = 3
        return limits
    }

    /// Runs a server while `body` talks to its port.
    private func serving(_ body: @Sendable (Int) async throws -> Void) async throws {
        let started = AsyncStream.makeStream(of: Int.self)
        let server = WebServer(address: .tcp(host: "127.0.0.1", port: 0), limits: Self.limits) { request in
            WebResponse(200, text: "\(request.method) \(request.path) \(request.body.count)")
        }
        let work = Task { try await server.run { started.continuation.yield($0 ?? 0) } }
        var ports = started.stream.makeAsyncIterator()
        let port = try #require(await ports.next())
        do {
            try await body(port)
        } catch {
            work.cancel()
            throw error
        }
        work.cancel()
        try await work.value
    }

    /// Sends bytes and returns what the server answers until it closes the connection.
    private static func talk(_ port: Int, _ text: String) async throws -> String {
        try await ProcessRun.run(
            "python3",
            [
                "-c",
                """
                import socket, sys
                s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                s.settimeout(10)
                try: s.sendall(eval(sys.argv[2]))
                except OSError: pass
                out = b""
                try:
                    while part := s.recv(65536): out += part
                except OSError: pass
                sys.stdout.write(out.decode())
                """, String(port), text,
            ]
        ).output
    }

    @Test func `one request is answered and the connection closed`() async throws {
        try await serving { port in
            let reply = try await Self.talk(
                port, #"b"POST /a/b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /smuggled HTTP/1.1\r\n\r\n""#
            )
            #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n") && reply.contains("Connection: close\r\n"), "\(reply)")
            #expect(reply.hasSuffix("POST [\"a\", \"b\"] 3") && !reply.contains("smuggled"))
            let chunked = try await Self.talk(
                port, #"b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n""#)
            #expect(chunked.hasSuffix("POST [] 2"), "\(chunked)")
        }
    }

    @Test(
        arguments: [
            (#"b"GET / HTTP/1.1\r\nX: " + b"a" * 300000"#, "431"),
            (#"b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n""#, "431"),
            (#"b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000"#, "431"),
            (#"b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n""#, "413"),
            (
                #"b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"8000\r\n" + (b"a" * 32768 + b"\r\n8000\r\n") * 40"#,
                "413"
            ),
            (#"b"GET / HTTP/1.1\r\nHost: x""#, "408"),
            (#"b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab""#, "408"),
            (#"b"GET /""#, "408"), (#"b"\x16\x03\x01\x02\x00\x01""#, "400"),
            (#"b"GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n""#, "400"),
            (#"b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n""#, "400"),
        ])
    func `a request that is too large, too slow or malformed is refused`(bytes: String, status: String) async throws {
        try await serving { port in
            let reply = try await Self.talk(port, bytes)
            #expect(reply.hasPrefix("HTTP/1.1 \(status) "), "\(reply)")
        }
    }

    @Test func `a client that does not read a stream is disconnected, and its stream ends`() async throws {
        var limits = ServerLimits()
        limits.responseTime = .milliseconds(500)
        let parts = Mutex(0)
        let ended = AsyncStream.makeStream(of: Void.self)
        let started = AsyncStream.makeStream(of: Int.self)
        let server = WebServer(address: .tcp(host: "127.0.0.1", port: 0), limits: limits) { _ in
            let end = StreamEnd { ended.continuation.yield() }
            var response = WebResponse(200, body: Array("begin\n".utf8))
            response.stream = ResponseStream {
                parts.withLock { $0 += 1 }
                return withExtendedLifetime(end) { [UInt8](repeating: 120, count: 1 << 16) }
            }
            return response
        }
        let work = Task { try await server.run { started.continuation.yield($0 ?? 0) } }
        var ports = started.stream.makeAsyncIterator()
        let port = try #require(await ports.next())
        let client = try RunningProcess(
            "python3",
            [
                "-c",
                """
                import socket, sys, time
                s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                print(s.recv(12), flush=True)
                time.sleep(60)
                """, String(port),
            ])
        var ends = ended.stream.makeAsyncIterator()
        await ends.next()
        // What the server asked for fits into the system's buffers.
        #expect(parts.withLock { $0 } < 1000)
        #expect(client.output == "b'HTTP/1.1 200'\n")
        client.signal(SIGKILL)
        work.cancel()
        try await work.value
    }

    /// Returns what a client says of a response of 24 MiB that it reads steadily: the size of the body that arrived, and
    /// whether the head has its length.
    private static func readSlowly(bytesPerSecond: Int, _ limits: ServerLimits) async throws -> String {
        let started = AsyncStream.makeStream(of: Int.self)
        let server = WebServer(address: .tcp(host: "127.0.0.1", port: 0), limits: limits) { _ in
            WebResponse(200, body: [UInt8](repeating: 120, count: 24 << 20))
        }
        let work = Task { try await server.run { started.continuation.yield($0 ?? 0) } }
        var ports = started.stream.makeAsyncIterator()
        let port = try #require(await ports.next())
        // The system's buffers have a few MB, so that the whole takes longer than a part may.
        let run = try await ProcessRun.run(
            "python3",
            [
                "-c",
                """
                import socket, sys, time
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
                s.connect(("127.0.0.1", int(sys.argv[1])))
                s.settimeout(10)
                s.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                out, size = b"", 0
                try:
                    while part := s.recv(1 << 16):
                        if len(out) < 200: out += part[:200]
                        size += len(part)
                        time.sleep(len(part) / int(sys.argv[2]))
                except ConnectionError: pass
                print(size - (out.index(b"\\r\\n\\r\\n") + 4), b"Content-Length: 25165824" in out)
                """, String(port), String(bytesPerSecond),
            ])
        work.cancel()
        try await work.value
        return run.output
    }

    @Test func `a client that reads slowly and steadily gets a long response whole`() async throws {
        var limits = ServerLimits()
        // A busy machine may keep a process waiting for a second.
        limits.responseTime = .seconds(3)
        #expect(try await Self.readSlowly(bytesPerSecond: 3_000_000, limits) == "25165824 True\n")
    }

    @Test func `a client that takes each part in time and the whole too slowly is disconnected`() async throws {
        var limits = ServerLimits()
        limits.responseTime = .seconds(1)
        limits.responseRate = 24 << 20
        let said = try await Self.readSlowly(bytesPerSecond: 2_000_000, limits)
        let size = try #require(Int(said.prefix { $0 != " " }), "\(said)")
        #expect(size > 0 && size < 24 << 20 && said.hasSuffix(" True\n"))
    }

    /// Says when the stream that holds it is gone.
    private final class StreamEnd: Sendable {
        private let action: @Sendable () -> Void
        init(_ action: @escaping @Sendable () -> Void) { self.action = action }
        deinit { action() }
    }

    @Test func `connections beyond the limit are closed, and later ones served`() async throws {
        try await serving { port in
            let run = try await ProcessRun.run(
                "python3",
                [
                    "-c",
                    """
                    import socket, sys, time
                    at = ("127.0.0.1", int(sys.argv[1]))
                    idle = [socket.create_connection(at) for _ in range(3)]
                    time.sleep(0.2)
                    more = socket.create_connection(at)
                    more.settimeout(5)
                    try: more.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"); early = more.recv(9)
                    except OSError: early = b""
                    for one in idle: one.close()
                    time.sleep(0.2)
                    last = socket.create_connection(at)
                    last.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                    print(early, last.recv(12))
                    """, String(port),
                ])
            #expect(run.output == "b'' b'HTTP/1.1 200'\n", "\(run)")
        }
    }
}
