import BridgeKit
import TestSupport
import Testing

@testable import BridgeHTTP

extension RemoteServer {
    /// The server of unusual heads, for tests that only read from it.
    static let oddHeads = Result {
        try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("odd-heads.py")])
    }
}

/// Heads that servers and proxies seldom send.
@Suite struct OddHeadTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.oddHeads.get() }

    @Test func `a field that continues on further lines is one field`() throws {
        let response = try client().start(HTTPRequest(url: server.url + "/folded")).response()
        #expect(response.all("link") == [#"</folded?page=1>; rel="first", </folded?page=2>; rel="next""#])
        #expect(response.header("x-last") == "a: b")
        #expect(response.headers.map(\.name) == ["Content-Length", "Link", "X-Last"])
    }

    /// A client that gives up a reply that has begun and brings nothing for a second.
    private func quick(firstByte: Int) throws -> HTTPClient {
        try client { writer in
            writer.set("first_byte_timeout", firstByte)
            writer.set("minimum_speed", 1000)
            writer.set("minimum_speed_time", 1)
            writer.setAuth([("type", "digest"), ("user", "ann"), ("password", "s3cret")])
        }
    }

    @Test(arguments: ["hints", "digest"])
    func `a head before the final one does not begin the reply`(path: String) throws {
        let slow = HTTPRequest(url: server.url + "/\(path)?pause=3")
        #expect(try quick(firstByte: 20).start(slow).body() == Array("[]".utf8))
        let silent = HTTPRequest(url: server.url + "/\(path)?pause=30")
        let error = try bridgeError { _ = try quick(firstByte: 1).start(silent).body() }
        #expect(error.message == "the reply did not begin within 1 s")
    }

    @Test func `an empty Location leads nowhere`() throws {
        let error = try bridgeError { _ = try client().start(HTTPRequest(url: server.url + "/nowhere")).response() }
        #expect(error.code == .malformed)
        #expect(error.message == "the reply redirects, and its Location is empty")
    }

    @Test func `a coding that cannot be read is named`() throws {
        func error(_ coding: String) throws -> BridgeError {
            let request = HTTPRequest(url: server.url + "/coded?coding=\(coding)")
            return try bridgeError { _ = try client().start(request).body() }
        }
        let unknown = try error("aws-chunked")
        #expect(unknown.message.hasPrefix("the reply's Content-Encoding is aws-chunked, which libcurl does not read"))
        #expect(unknown.remedy?.contains("without Content-Encoding") == true)
        let wrong = try error("gzip")
        #expect(wrong.message.hasPrefix("the reply's compression is broken"), "\(wrong)")
        #expect(wrong.remedy?.hasPrefix("the reply's Content-Encoding is gzip: ") == true, "\(wrong)")
    }

    // MARK: Proxies

    private func exchange(with status: Int) throws -> HTTPExchange {
        let client = try client { writer in writer.set("proxy") { writer.set("url", server.url) } }
        var request = HTTPRequest(method: "POST", url: "https://s\(status).invalid/", body: Array("{}".utf8))
        request.isSentOnce = true
        return client.start(request)
    }

    @Test(arguments: [
        (407, BridgeError.Code.authentication, false), (403, .permission, false), (503, .unreachable, true),
    ])
    func `a proxy that does not connect is named, and the server got nothing`(
        status: Int, code: BridgeError.Code, isRetryable: Bool
    ) throws {
        let exchange = try exchange(with: status)
        let error = try bridgeError { _ = try exchange.response() }
        #expect(error.code == code && error.isRetryable == isRetryable, "\(error)")
        #expect(error.message == "the proxy answers \(status) to CONNECT, and the server got nothing")
        #expect(error.remedy?.contains("the option proxy") == true, "\(error)")
        #expect(!exchange.wasSent)
    }

    @Test func `a server that breaks the connection behind a proxy before TLS got nothing`() throws {
        let exchange = try exchange(with: 200)
        #expect(throws: BridgeError.self) { try exchange.response() }
        #expect(!exchange.wasSent)
    }

    @Test(arguments: [
        "http://ann:s3cret#pw@127.0.0.1:9", "htps://ann:s3cret-pw@127.0.0.1:9", "ann:s3cret-pw@127.0.0.1:99999",
    ])
    func `an address that a proxy cannot have is refused without its password`(address: String) throws {
        let client = try client { writer in writer.set("proxy") { writer.set("url", address) } }
        let error = try bridgeError { _ = try client.start(HTTPRequest(url: server.url)).response() }
        #expect(error.code == .configuration && !error.isRetryable, "\(error)")
        #expect(error.message == "the proxy's address has a form that libcurl does not take")
        #expect(!error.description.contains("s3cret"))
        #expect(error.remedy?.contains("://") == false, "\(error)")
    }

    @Test(arguments: [
        ("http://ann:s3cret@proxy:3128", ["ann:s3cret", "s3cret"]), ("ann:p@w#x@proxy:3128", ["ann:p@w#x", "p@w#x"]),
        ("http://ann:p%40w/x@proxy", ["ann:p%40w/x", "ann:p@w/x", "p%40w/x", "p@w/x"]), ("http://items@proxy", []),
        ("http://items:@proxy", []),
        ("http://proxy:3128", []), ("", []),
    ])
    func `a proxy's user and password are secrets in each spelling`(address: String, secrets: [String]) {
        #expect(Set(ProxyVariables.userInfo(of: address)) == Set(secrets))
    }

    @Test func `a fault of a SOCKS proxy says whether another try may help`() {
        func code(_ fault: UInt32) -> BridgeError.Code {
            ProxyAnswer(fault: Int(fault)).socksError("refused", location: "http://h/").code
        }
        // CURLPX_NO_AUTH, CURLPX_REPLY_NOT_ALLOWED and CURLPX_REPLY_HOST_UNREACHABLE.
        #expect([code(12), code(23), code(21)] == [.authentication, .permission, .unreachable])
    }
}
