import BridgeHTTP
import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

/// Where credentials go, where they don't, and that nobody reads them.
@Suite struct CredentialTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.shared.get() }

    private func echo(_ exchange: HTTPExchange) throws -> HTTPClientTests.Echo {
        try JSONDecoder().decode(HTTPClientTests.Echo.self, from: Data(try exchange.body()))
    }

    private func redirect(_ to: String, status: Int = 302) -> HTTPRequest {
        HTTPRequest(url: server.url + "/redirect?status=\(status)&to=\(to)")
    }

    @Test func `each way of authentication sends its header or parameter`() throws {
        let url = server.url + "/echo?a=1"
        let basic = try client { $0.setAuth([("type", "basic"), ("user", "ann"), ("password", "pässword")]) }
        let bearer = try client { $0.setAuth([("type", "bearer"), ("token", "abc")]) }
        let header = try client { $0.setAuth([("type", "api_key"), ("header", "X-Key"), ("value", "abc")]) }
        let query = try client { $0.setAuth([("type", "api_key"), ("query", "key"), ("value", "a&b c")]) }
        #expect(
            try echo(basic.start(HTTPRequest(url: url))).headers["authorization"] == "Basic YW5uOnDDpHNzd29yZA==")
        #expect(try echo(bearer.start(HTTPRequest(url: url))).headers["authorization"] == "Bearer abc")
        #expect(try echo(header.start(HTTPRequest(url: url))).headers["x-key"] == "abc")
        let exchange = query.start(HTTPRequest(url: url))
        #expect(try exchange.response().url == url)
        #expect(try echo(exchange).path == "/echo?a=1&key=a%26b%20c")
    }

    @Test func `a redirect at home keeps credentials, one abroad loses them for good`() throws {
        let client = try client { writer in
            writer.setAuth([("type", "bearer"), ("token", "s3cret")])
            writer.set("headers") {
                writer.set("X-Custom", "s3cret-too")
                writer.set("Accept-Language", "fr")
                writer.set("Cookie", "s=1")
            }
        }
        let home = try echo(client.start(redirect("/echo")))
        #expect(home.headers["authorization"] == "Bearer s3cret")
        #expect(home.headers["x-custom"] == "s3cret-too")
        let exchange = client.start(redirect("abroad"))
        let response = try exchange.response()
        #expect(response.url == server.otherURL + "/echo")
        #expect(response.lostCredentials)
        let abroad = try echo(exchange)
        #expect(abroad.headers["authorization"] == nil)
        #expect(abroad.headers["x-custom"] == nil)
        #expect(abroad.headers["cookie"] == nil)
        #expect(abroad.headers["accept-language"] == "fr")
        // Over there and back again: a stranger chose that URL.
        let back = HTTPURL.encode("\(server.otherURL)/redirect?to=" + HTTPURL.encode(server.url + "/echo"))
        #expect(try echo(client.start(redirect(back))).headers["authorization"] == nil)
    }

    @Test func `a query key does not cross to another origin`() throws {
        let client = try client { $0.setAuth([("type", "api_key"), ("query", "key"), ("value", "s3cret")]) }
        #expect(try echo(client.start(redirect("/echo"))).path == "/echo?key=s3cret")
        #expect(try echo(client.start(redirect("abroad"))).path == "/echo")
        // A server that copies the query into its redirect sends nobody's key abroad.
        let copied = HTTPURL.encode("\(server.otherURL)/echo?key=s3cret")
        #expect {
            _ = try echo(client.start(redirect(copied)))
        } throws: {
            ($0 as? BridgeError)?.message == "the reply redirects to another origin with a credential in the URL"
        }
    }

    @Test func `a key in the query of a request does not cross to another origin either`() throws {
        let copied = HTTPURL.encode("\(server.otherURL)/echo?access_token=unknown")
        let client = try client()
        let error = try bridgeError {
            _ = try echo(client.start(HTTPRequest(url: "\(server.url)/redirect?access_token=unknown&to=\(copied)")))
        }
        #expect(error.code == .permission)
        // What is no key by its name goes where the server says.
        let open = HTTPURL.encode("\(server.otherURL)/echo?page=2")
        let page = try echo(client.start(HTTPRequest(url: "\(server.url)/redirect?page=2&to=\(open)")))
        #expect(page.path == "/echo?page=2")
    }

    @Test func `a request can leave credentials at home`() throws {
        let client = try client { $0.setAuth([("type", "bearer"), ("token", "s3cret")]) }
        var request = HTTPRequest(url: server.otherURL + "/echo")
        request.sendsCredentials = false
        #expect(try echo(client.start(request)).headers["authorization"] == nil)
    }

    @Test(arguments: [(303, "GET"), (307, "POST"), (308, "POST")])
    func `redirects keep or change the method as their status says`(status: Int, method: String) throws {
        var request = redirect("/echo", status: status)
        request.method = "POST"
        request.body = Array("body".utf8)
        let echo = try echo(client().start(request))
        #expect(echo.method == method)
        #expect(echo.body == (method == "POST" ? "body" : ""))
    }

    @Test(arguments: [301, 302])
    func `a POST is never redirected into a GET`(status: Int) throws {
        var request = redirect("/echo", status: status)
        request.method = "POST"
        request.body = Array("body".utf8)
        let client = try client()
        let error = try bridgeError { _ = try client.start(request).response() }
        #expect(error.code == .malformed)
        #expect(error.message == "the server redirects a POST with \(status), after which only a GET is usual")
        #expect(error.remedy == "set the URL that it leads to")
    }

    @Test func `a body is not taken to another origin`() throws {
        var request = redirect("abroad", status: 307)
        request.method = "POST"
        request.body = Array("password".utf8)
        let client = try client()
        let error = try bridgeError { _ = try client.start(request).response() }
        #expect(error.code == .permission)
    }

    @Test func `ten redirects are followed and no more, and never to another scheme`() throws {
        let client = try client()
        #expect(try echo(client.start(HTTPRequest(url: server.url + "/hop/9"))).path == "/echo")
        let error = try bridgeError { _ = try client.start(HTTPRequest(url: server.url + "/hop/10")).response() }
        #expect(error.code == .limit)
        let file = try bridgeError { _ = try client.start(redirect("file:///etc/passwd")).response() }
        #expect(file.code == .malformed)
    }

    @Test func `what was cancelled while a new token was got is not sent again`() throws {
        let server = try RemoteServer.fixture()
        @Sendable func asked(_ path: String) throws -> Int {
            try server.events().filter { $0.event == "begin" && $0.path.hasPrefix(path) }.count
        }
        let client = try client { writer in
            // One at a time: the request at the end waits for all before it.
            writer.set("limits") { writer.set("concurrency", 1) }
            writer.setAuth([
                ("type", "oauth2"), ("client_id", "client 1"), ("client_secret", "s3cret/secret"),
                ("token_url", server.url + "/zoo/token?uses=0&delay=1"),
            ])
        }
        let exchange = client.start(HTTPRequest(url: server.url + "/zoo/guarded"))
        let thread = Thread {
            while (try? asked("/zoo/token")) ?? 2 < 2 { usleep(1000) }
            exchange.cancel()
        }
        thread.start()
        #expect(try bridgeError { _ = try exchange.response() }.code == .cancelled)
        var last = HTTPRequest(url: server.url + "/users?count=1")
        last.sendsCredentials = false
        #expect(try !client.start(last).body().isEmpty)
        #expect(try asked("/zoo/token") == 2)
        #expect(try asked("/zoo/guarded") == 1)
    }

    @Test func `a status becomes an error with the remote's words and without secrets`() throws {
        let client = try client { $0.setAuth([("type", "bearer"), ("token", "s3cret")]) }
        func error(_ path: String) throws -> BridgeError {
            try client.start(HTTPRequest(url: server.url + path)).statusError(asked: "users")
        }
        let page = try error("/status/503?html=1&retry_after=3&access_token=visible")
        #expect(page.message == "users: the server answers 503 Service Unavailable")
        #expect(page.remote == "Oops &amp; sorry")
        #expect(page.retryAfterMilliseconds == 3000)
        #expect(page.location == server.url + "/status/503?html=1&retry_after=3&access_token=***")
        #expect(try error("/status/401").remote == #"{"message": "said the API", "echo": "Bearer ***"}"#)
        #expect(try error("/status/404").retryAfterMilliseconds == nil)
        #expect(try error("/status/403?retry_after=9").code == .rateLimited)
        let future = try #require(
            error("/status/429?retry_after=Wed,%2021%20Oct%202099%2007:28:00%20GMT")
                .retryAfterMilliseconds)
        #expect(future > 1_000_000_000_000)
    }

    @Test func `options that make no sense are refused by name`() throws {
        func message(_ write: (RecordBatchWriter) -> Void) throws -> String {
            let error = try bridgeError { _ = try client(write) }
            #expect(error.code == .configuration)
            return error.message
        }
        #expect(try message { $0.setAuth([("type", "kerberos")]) } == "auth.type is \"kerberos\"")
        #expect(try message { $0.setAuth([("type", "basic")]) } == "auth.user is missing")
        for type in ["basic", "digest"] {
            #expect(try message { $0.setAuth([("type", type), ("user", "ann")]) } == "auth.password is missing")
        }
        #expect(try message { $0.setAuth([("type", "bearer"), ("token", "")]) } == "auth.token is missing")
        #expect(
            try message { $0.setAuth([("type", "bearer"), ("token", "t"), ("user", "u")]) }
                == "auth.user has no effect with auth.type bearer")
        #expect(
            try message { $0.setAuth([("type", "api_key"), ("value", "v")]) }
                == "auth.type api_key needs one of auth.header, auth.query and auth.cookie")
        #expect(
            try message { $0.setAuth([("type", "bearer"), ("token", "a\r\nX: y")]) }
                == "the value of header Authorization holds a line break")
        #expect(
            try message { $0.setAuth([("type", "bearer"), ("token", "a\0b")]) }
                == "the value of header Authorization holds a NUL character")
        #expect(try message { $0.set("timeout", 0.0) } == "timeout is 0.0 seconds")
        #expect(try message { $0.set("http_version", "3") } == "http_version is \"3\"")
    }
}
