import BridgeHTTP
import BridgeKit
import Foundation
import RecordBatch
import Synchronization
import TestSupport
import Testing

@Suite struct HTTPClientTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.shared.get() }

    /// What the server saw of a request.
    struct Echo: Decodable {
        let method: String
        let path: String
        let body: String
        let headers: [String: String]
    }

    private func echo(_ exchange: HTTPExchange) throws -> Echo {
        try JSONDecoder().decode(Echo.self, from: Data(try exchange.body()))
    }

    @Test func `a reply has a status, headers without case, and a body`() throws {
        let client = try client()
        let exchange = client.start(HTTPRequest(url: server.url + "/users?count=2"))
        let response = try exchange.response()
        #expect(response.status == 200)
        #expect(response.header("CONTENT-type") == "application/json")
        #expect(response.mediaType == "application/json")
        #expect(String(decoding: try exchange.body(), as: UTF8.self).hasPrefix(#"[{"id": 1, "#))
    }

    @Test func `a request names its program, and nothing that was not configured`() throws {
        let echo = try echo(client().start(HTTPRequest(url: server.url + "/echo")))
        #expect(echo.headers["user-agent"]?.hasPrefix("bmo/") == true)
        #expect(echo.headers["accept-encoding"]?.contains("gzip") == true)
        #expect(Set(echo.headers.keys) == ["host", "user-agent", "accept", "accept-encoding"])
    }

    @Test func `a body is sent with the request's own headers`() throws {
        var request = HTTPRequest(method: "POST", url: server.url + "/echo", body: Array("<x/>".utf8))
        request.headers = [(name: "Content-Type", value: "text/xml"), (name: "X-Empty", value: "")]
        let big = [UInt8](repeating: UInt8(ascii: "a"), count: 3 << 20)
        let client = try client { writer in writer.set("headers") { writer.set("content-type", "option/replaced") } }
        let small = try echo(client.start(request))
        #expect(small.method == "POST")
        #expect(small.body == "<x/>")
        #expect(small.headers["content-type"] == "text/xml")
        #expect(small.headers["x-empty"] == "")
        #expect(small.headers["expect"] == nil)
        request.body = big
        #expect(try echo(client.start(request)).body.utf8.count == big.count)
    }

    @Test func `a connection is kept for the next request`() throws {
        let server = try RemoteServer.fixture()
        let client = try client()
        for _ in 0..<3 { _ = try client.start(HTTPRequest(url: server.url + "/users?count=1")).body() }
        #expect(Set(try server.events().map(\.client)).count == 1)
    }

    @Test func `several exchanges run at the same time`() throws {
        let server = try RemoteServer.fixture()
        let client = try client()
        let exchanges = (0..<4).map { client.start(HTTPRequest(url: server.url + "/users?delay=0.3&count=\($0)")) }
        for (count, exchange) in exchanges.enumerated() {
            let body = try JSONSerialization.jsonObject(with: Data(try exchange.body())) as? [Any]
            #expect(body?.count == count)
        }
        let events = try server.events()
        let lastBegin = events.filter { $0.event == "begin" }.map(\.time).max() ?? .infinity
        let firstEnd = events.filter { $0.event == "end" }.map(\.time).min() ?? 0
        #expect(lastBegin < firstEnd)
    }

    @Test func `a slow reader makes the server wait`() throws {
        let client = try client()
        let size = 64 << 20
        var request = HTTPRequest(url: server.url + "/bytes?size=\(size)")
        request.bufferLimit = 1 << 20
        let exchange = client.start(request)
        _ = try exchange.response()
        var total = 0
        var largest = 0
        while let chunk = try exchange.nextChunk() {
            // What every byte is: its number, modulo 256.
            #expect(chunk.first == UInt8(truncatingIfNeeded: total))
            total += chunk.count
            largest = max(largest, chunk.count)
            if total < 8 << 20 { usleep(5000) }
        }
        #expect(total == size)
        #expect(largest <= (1 << 20) + (256 << 10))
    }

    @Test func `a whole body larger than the buffer arrives`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/bytes?size=5000000"))
        _ = try exchange.response()
        usleep(50_000)
        let body = try exchange.paddedBody()
        #expect(body.count == 5_000_000)
        #expect(body.bytes.count == body.count + HTTPExchange.padding)
        #expect(body.bytes.suffix(HTTPExchange.padding).nonEmptyAllSatisfy { $0 == 0 })
    }

    @Test func `compressed bodies are decompressed`() throws {
        let body = try client().start(HTTPRequest(url: server.url + "/gzip")).body()
        #expect((try JSONSerialization.jsonObject(with: Data(body)) as? [String: [Any]])?["items"]?.count == 1000)
    }

    @Test func `a body that grows beyond the limit when decompressed is refused`() throws {
        let client = try client { $0.set("max_body_bytes", 1 << 20) }
        for isWhole in [true, false] {
            let exchange = client.start(HTTPRequest(url: server.url + "/bomb?mib=64"))
            let error = try bridgeError {
                if isWhole { _ = try exchange.body() } else { while try exchange.nextChunk() != nil {} }
            }
            #expect(error.code == .limit)
            #expect(error.message == "the reply is larger than 1048576 bytes after decompression")
        }
        #expect(try client.start(HTTPRequest(url: server.url + "/bytes?size=1048576")).body().count == 1 << 20)
    }

    @Test func `a decompressed body of many buffers arrives whole`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/bomb?mib=40"))
        var total = 0
        while let chunk = try exchange.nextChunk() { total += chunk.count }
        #expect(total == 40 << 20)
    }

    @Test(arguments: ["/truncated", "/truncated-chunks"])
    func `a body that breaks off throws after the bytes that came`(path: String) throws {
        let exchange = try client().start(HTTPRequest(url: server.url + path))
        #expect(try exchange.response().status == 200)
        #expect(try exchange.nextChunk()?.isEmpty == false)
        let error = try bridgeError { while try exchange.nextChunk() != nil {} }
        #expect(error.code == .malformed)
        #expect(error.isRetryable)
        #expect(error.location == server.url + path)
    }

    @Test(arguments: [
        ("12;14", "12 and 14"), ("14;12", "14 and 12"), ("12, 14", "12 and 14"), ("12;12;012", "12 and 012"),
    ])
    func `a reply that names different lengths is refused`(lengths: String, words: String) throws {
        let query = HTTPURL.encode(lengths)
        let exchange = try client().start(HTTPRequest(url: server.url + "/lengths?of=\(query)"))
        let error = try bridgeError { _ = try exchange.body() }
        #expect(error.code == .malformed && !error.isRetryable)
        #expect(
            error.message == "the reply names different lengths of its body: Content-Length is \(words)", "\(error)")
    }

    @Test(arguments: ["12", "12;12"])
    func `a length that is named twice is one`(lengths: String) throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/lengths?of=\(lengths)"))
        #expect(try exchange.body().count == 12)
    }

    @Test(arguments: ["close", "length", "chunks"])
    func `a gzip body that ends before its data do breaks off, and may be asked for again`(framing: String) throws {
        let client = try client()
        let size = try client.start(HTTPRequest(url: server.url + "/cut-gzip/\(framing)?bytes=100000")).body().count
        // In its head, in its data, and in the number at its end.
        for bytes in [1, 9, 17, 20, 500, 5000, -3] {
            let url = server.url + "/cut-gzip/\(framing)?bytes=\(bytes)"
            let error = try bridgeError { _ = try client.start(HTTPRequest(url: url)).body() }
            #expect(error.code == .malformed && error.isRetryable, "\(bytes): \(error)")
            #expect(error.message.hasPrefix("the reply broke off after"), "\(error)")
            #expect(try client.start(HTTPRequest(url: url)).body().count == size, "the second reply is whole")
        }
    }

    @Test func `broken compression is malformed`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/bad-gzip"))
        #expect(try bridgeError { _ = try exchange.body() }.code == .malformed)
    }

    @Test func `gzip data with a second member are refused by name`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/gzip-members"))
        let error = try bridgeError { _ = try exchange.body() }
        #expect(error.code == .malformed && !error.isRetryable, "\(error)")
        #expect(error.message.hasPrefix("the reply's compressed data have a second part"), "\(error)")
    }

    @Test func `a reply that is not HTTP is reported as such`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/no-http"))
        let error = try bridgeError { _ = try exchange.response() }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("the server does not speak HTTP"))
    }

    @Test func `a connection that closes without a reply is unreachable and retryable`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/vanish"))
        let error = try bridgeError { _ = try exchange.response() }
        #expect(error.code == .unreachable)
        #expect(error.isRetryable)
    }

    @Test func `a head without end is refused`() throws {
        let exchange = try client().start(HTTPRequest(url: server.url + "/many-headers"))
        #expect(try bridgeError { _ = try exchange.response() }.code == .limit)
    }

    @Test func `a closed port, an unknown host and a server without TLS are distinguished`() throws {
        let client = try client()
        func error(_ url: String) throws -> BridgeError {
            try bridgeError { _ = try client.start(HTTPRequest(url: url)).response() }
        }
        #expect(try error("http://127.0.0.1:1/").code == .unreachable)
        #expect(try error("http://no-such-host.invalid/").code == .unreachable)
        let tls = try error(server.url.replacing("http:", with: "https:") + "/")
        #expect(tls.code == .tls, "\(tls)")
        #expect(!tls.isRetryable)
        #expect(try error("ftp://127.0.0.1/").code == .configuration)
        #expect(try error("http://u:p@127.0.0.1/").code == .configuration)
    }

    @Test func `the total time and the idle time are limited`() throws {
        let total = try client { $0.set("timeout", 0.3) }
        let error = try bridgeError {
            _ = try total.start(HTTPRequest(url: server.url + "/slow?seconds=20")).response()
        }
        #expect(error.code == .timeout)
        #expect(error.isRetryable)
        let idle = try client { $0.set("idle_timeout", 1) }
        let exchange = idle.start(HTTPRequest(url: server.url + "/stall?seconds=20"))
        #expect(try exchange.response().status == 200)
        #expect(try bridgeError { _ = try exchange.body() }.code == .timeout)
    }

    @Test(arguments: ["/slow?seconds=30", "/stall?seconds=30"])
    func `cancel wakes a waiting reader`(path: String) throws {
        let exchange = try client().start(HTTPRequest(url: server.url + path))
        let thread = Thread {
            usleep(100_000)
            exchange.cancel()
        }
        thread.start()
        let start = ContinuousClock.now
        #expect(try bridgeError { _ = try exchange.body() }.code == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(try bridgeError { _ = try exchange.response() }.code == .cancelled)
    }

    @Test func `an exchange without references ends its connection`() throws {
        let client = try client()
        for _ in 0..<50 { _ = client.start(HTTPRequest(url: server.url + "/stall?seconds=30")) }
        let body = try client.start(HTTPRequest(url: server.url + "/users?count=1")).body()
        #expect(!body.isEmpty)
    }
}
