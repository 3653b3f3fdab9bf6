import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import Synchronization
import TestSupport
import Testing

/// Each way to say who asks, against a server that checks it.
@Suite struct AuthenticationTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.fixture() }

    private func bridge(_ auth: Literal) throws -> RESTBridge {
        try RESTBridgeTests.bridge(["url": "\(server.url)/zoo", "auth": auth])
    }

    private func scan(_ bridge: RESTBridge, _ path: String) throws -> Scan {
        try Scan(source(bridge, ["path": .text(path)]))
    }

    private func asked(_ path: String) throws -> Int {
        try server.events().filter { $0.event == "begin" && $0.path.hasPrefix(path) }.count
    }

    private static let client: Literal.Members = [
        ("client_id", "client 1"), ("client_secret", "s3cret/secret"),
    ]

    private func oauth(_ more: (key: String, value: Literal)...) -> Literal {
        .object([("type", "oauth2")] + Self.client + more)
    }

    @Test(arguments: ["basic", "body"])
    func `client credentials get a token once for a whole scan`(way: String) throws {
        let bridge = try bridge(
            oauth(
                ("token_url", "/token?way=\(way)"), ("client_auth", .text(way)), ("scope", "read"), ("audience", "api"))
        )
        let scan = try scan(bridge, "guarded")
        #expect(scan.ids == Array(1...25))
        #expect(try asked("/zoo/token") == 1)
        let tokens = Set(
            try server.events().compactMap { $0.headers["authorization"] }.filter { $0.hasPrefix("Bearer") })
        #expect(tokens == ["Bearer token-1-read-api"])
    }

    @Test func `a refused token is got anew once and the request made again`() throws {
        // Each token is good for two requests: a scan of three pages needs two.
        let bridge = try bridge(oauth(("token_url", "/token?uses=2")))
        #expect(try scan(bridge, "guarded").ids == Array(1...25))
        #expect(try asked("/zoo/token") == 2)
        let useless = try self.bridge(oauth(("token_url", "/token?uses=0")))
        let error = try bridgeError { _ = try scan(useless, "guarded") }
        #expect(error.code == .authentication)
        #expect(error.message == "page 1 of User: the server answers 401 Unauthorized")
        #expect(try asked("/zoo/token") == 4)
    }

    @Test func `requests at the same time share one token request`() throws {
        let bridge = try bridge(oauth(("token_url", "/token?delay=0.3")))
        let counts = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            let count = (try? scan(bridge, "guarded").ids.count) ?? -1
            counts.withLock { $0.append(count) }
        }
        #expect(counts.withLock { $0 } == Array(repeating: 25, count: 6))
        #expect(try asked("/zoo/token") == 1)
    }

    @Test func `a token is got anew before it ends`() async throws {
        let bridge = try bridge(oauth(("token_url", "/token?expires=1")))
        _ = try scan(bridge, "guarded")
        try await eventually("a second token is fetched") {
            _ = try scan(bridge, "guarded")
            return try asked("/zoo/token") == 2
        }
        #expect(try asked("/zoo/token") == 2)
    }

    @Test func `a user's password gets a token, and a wrong one is reported without quoting it`() throws {
        func grant(_ password: Literal) throws -> RESTBridge {
            try bridge(
                oauth(("grant", "password"), ("user", "ann"), ("password", password), ("token_url", "/token?way=basic"))
            )
        }
        #expect(try scan(grant("s3cret-pw"), "guarded").ids == Array(1...25))
        #expect(try asked("/zoo/token") == 1)
        let error = try bridgeError { _ = try scan(grant("s3cret-wrong"), "guarded") }
        #expect(error.message == "the token request: the server answers 400 Bad Request")
        #expect(error.remote?.contains("no such user") == true)
        #expect(!error.description.contains("s3cret"))
    }

    @Test func `a refresh token gets tokens, and its successor is used`() throws {
        let bridge = try bridge(oauth(("token_url", "/token?uses=2"), ("refresh_token", "s3cret-refresh")))
        #expect(try scan(bridge, "guarded").ids == Array(1...25))
        #expect(try asked("/zoo/token") == 2)
    }

    @Test func `a refresh token survives a server that is busy`() throws {
        let bridge = try bridge(
            oauth(("token_url", "/token?uses=2&busy=2&once=1"), ("refresh_token", "s3cret-refresh")))
        #expect(try bridgeError { _ = try scan(bridge, "guarded") }.code == .remote)
        // The first token of the chain is used up.
        #expect(try scan(bridge, "guarded").ids == Array(1...25))
    }

    @Test func `an unknown user is reported in the server's words, without the secret`() throws {
        let bridge = try bridge([
            "type": "oauth2", "client_id": "client 1", "client_secret": "s3cret/wrong", "token_url": "/token",
        ])
        let error = try bridgeError { _ = try scan(bridge, "guarded") }
        #expect(error.code == .authentication)
        #expect(error.message == "the token request: the server answers 401 Unauthorized")
        #expect(error.remedy == "check the option auth")
        #expect(error.remote?.contains("who is that?") == true)
        #expect(!error.description.contains("s3cret"))
    }

    @Test func `a token never reaches an error`() throws {
        let bridge = try bridge(oauth(("token_url", "\(server.url)/zoo/token"), ("scope", "s3cretscope")))
        _ = try scan(bridge, "guarded")
        // The reply tells the request's headers.
        let error = try bridgeError {
            _ = try Scan(source(try self.bridge(oauth(("token_url", "/token"))), ["path": "/../status/500"]))
        }
        #expect(!error.description.contains("token-"))
        #expect(error.description.contains("***"))
    }

    @Test func `a login gives a token or a cookie`() throws {
        let token = try bridge([
            "type": "login", "path": "/login", "user": "ann", "password": "s3cret-pw", "token_path": "$.data.token",
            "header": "X-Session",
        ])
        #expect(try scan(token, "with_login").ids == Array(1...25))
        let cookie = try bridge([
            "type": "login", "path": "/login?cookie=1", "body": ["username": "ann", "password": "s3cret-pw"],
            "body_format": "form",
        ])
        #expect(try scan(cookie, "with_cookie").ids == Array(1...25))
        let wrong = try bridge(["type": "login", "path": "/login", "user": "ann", "password": "nope"])
        let error = try bridgeError { _ = try scan(wrong, "with_login") }
        #expect(error.code == .authentication)
        #expect(error.message == "the login: the server answers 401 Unauthorized")
    }

    @Test func `what the server hands out with a refusal goes along from then on`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo", "session_header": "X-Zoo-Session-Id"])
        #expect(try scan(bridge, "session").ids == Array(1...25))
        #expect(try asked("/zoo/session") == 4, "one refusal and three pages")
        // A session that ends in the midst of a scan is followed by the next one.
        #expect(try scan(bridge, "session?uses=2").ids == Array(1...25))

        let without = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo"])
        let error = try bridgeError { _ = try scan(without, "session") }
        #expect(error.code == .conflict)
        #expect(
            error.remedy
                == "if the server expects X-Zoo-Session-Id back, set the bridge's option session_header: X-Zoo-Session-Id"
        )
    }

    @Test func `a value with each reply does not make a token readable`() throws {
        let bridge = try RESTBridgeTests.bridge([
            "url": "\(server.url)/zoo", "auth": oauth(("token_url", "/token")), "session_header": "X-Zoo-Session-Id",
        ])
        for _ in 0..<70 { #expect(try scan(bridge, "rotating-session").ids == [1]) }
        // The reply tells the request's headers.
        let error = try bridgeError { _ = try scan(bridge, "/../status/500") }
        #expect(!error.description.contains("token-") && !error.description.contains("s3cret"), "\(error)")
        #expect(error.description.contains("***"))
    }

    @Test func `a configuration with session_header is not advised to set it`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo", "session_header": "x-zoo-session-id"])
        let error = try bridgeError { _ = try scan(bridge, "refused-session") }
        #expect(
            error.remedy
                == "session_header: X-Zoo-Session-Id is set: the server refuses the request even with the value that it issues there"
        )
        #expect(error.remote?.contains("*** is over, take ***") == true, "\(error)")
    }

    @Test func `digest, basic and a key in a cookie`() throws {
        let digest = try bridge(["type": "digest", "user": "ann", "password": "s3cret-pw"])
        #expect(try scan(digest, "digest").ids == Array(1...25))
        let wrong = try bridge(["type": "digest", "user": "ann", "password": "other"])
        #expect(try bridgeError { _ = try scan(wrong, "digest") }.code == .authentication)
        let basic = try bridge(["type": "basic", "user": "ann", "password": "s3cret-pw"])
        #expect(try scan(basic, "basic").ids == Array(1...25))
        let cookie = try bridge(["type": "api_key", "cookie": "session", "value": "s3cret-session"])
        #expect(try scan(cookie, "with_cookie").ids == Array(1...25))
    }

    @Test func `netrc names the user by host`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("machine 127.0.0.1 login ann password s3cret-pw\n", to: "netrc")
        let bridge = try bridge(["type": "netrc", "file": .text(file)])
        #expect(try scan(bridge, "basic").ids == Array(1...25))
    }

    @Test func `a signed token convinces the holder of the key`() throws {
        let folder = try TemporaryFolder()
        func key(_ arguments: String...) throws -> (key: Literal, path: String) {
            let name = folder.appending("key")
            try openssl(["genpkey"] + arguments + ["-out", name])
            try openssl(["pkey", "-in", name, "-pubout", "-out", name + ".pub"])
            return (.text(try String(contentsOfFile: name, encoding: .utf8)), name + ".pub")
        }
        let shared = try bridge(["type": "jwt", "algorithm": "HS256", "secret": "s3cret-hmac", "issuer": "bmo"])
        #expect(try scan(shared, "signed").ids == Array(1...25))
        let rsa = try key("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048")
        let signed = try bridge(["type": "jwt", "private_key": rsa.key, "issuer": "bmo", "claims": ["admin": true]])
        #expect(try scan(signed, "signed?public=\(rsa.path)").ids == Array(1...25))
        // RFC 7523: the token is exchanged for another one.
        let exchanged = try bridge([
            "type": "oauth2", "grant": "jwt_bearer", "private_key": rsa.key, "issuer": "bmo",
            "token_url": "/token?public=\(rsa.path)",
        ])
        #expect(try scan(exchanged, "guarded").ids == Array(1...25))
        let curve = try key("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        let elliptic = try bridge([
            "type": "jwt", "algorithm": "ES256", "private_key": curve.key, "issuer": "bmo",
        ])
        #expect(try scan(elliptic, "signed?public=\(curve.path)").ids == Array(1...25))
        let error = try bridgeError { _ = try bridge(["type": "jwt", "private_key": curve.key]) }
        #expect(error.message == "auth.private_key is not a key for RS256")
    }

    private func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    @Test func `a rule renews the credentials where a refusal has status 200`() throws {
        let bridge = try bridge(oauth(("token_url", "/token")))
        let error = try bridgeError {
            _ = try Scan(
                source(
                    bridge,
                    [
                        "path": "soft-error?error=expired", "records": "$.items",
                        "responses": [["when": ["path": "$.error", "equals": "expired"], "action": "refresh"]],
                    ]))
        }
        #expect(error.code == .authentication)
        #expect(try asked("/zoo/token") == 2)
        #expect(try asked("/zoo/soft-error") == 2)
    }

    @Test func `an outage of the token endpoint ends such a renewal with its own error, which may pass`() throws {
        let bridge = try bridge(oauth(("token_url", "/token?busy=2")))
        let error = try bridgeError {
            _ = try Scan(
                source(
                    bridge,
                    [
                        "path": "soft-error?error=expired", "records": "$.items",
                        "responses": [["when": ["path": "$.error", "equals": "expired"], "action": "refresh"]],
                    ]))
        }
        #expect(error.code == .remote && error.isRetryable)
        #expect(error.message.hasPrefix("the token request: the server answers 503"), "\(error)")
    }

    @Test func `credentials that cannot be renewed make such a refusal final`() throws {
        let bridge = try bridge(["type": "bearer", "token": "s3cret-bearer"])
        let error = try bridgeError {
            _ = try Scan(
                source(
                    bridge,
                    [
                        "path": "soft-error?error=expired", "records": "$.items",
                        "responses": [["when": ["path": "$.error", "equals": "expired"], "action": "refresh"]],
                    ]))
        }
        #expect(error.code == .authentication && !error.isRetryable)
    }

    @Test func `requests keep to their rate and number`() throws {
        let bridge = try RESTBridgeTests.bridge([
            "url": "\(server.url)", "limits": ["requests_per_second": 20, "concurrency": 2],
        ])
        let scan = try Scan(
            source(
                bridge,
                [
                    "path": "/users/page?total=1&count=400&delay=0.05", "records": "$.items",
                    "paging": ["style": "page", "size_parameter": "per_page", "size": 10, "pages": "$.meta.pages"],
                ]))
        #expect(scan.ids.count == 400)
        let events = try server.events().sorted { $0.time < $1.time }
        let begins = events.filter { $0.event == "begin" }.map(\.time)
        // 20 may begin at once, the other 20 take a second.
        #expect(begins[39] - begins[0] > 0.9)
        var running = 0
        for event in events {
            running += event.event == "begin" ? 1 : -1
            #expect(running <= 2)
        }
    }

    @Test func `a remote that says that no request is left is left alone until then`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo"])
        _ = try scan(bridge, "limited?reset=1")
        _ = try scan(bridge, "limited?reset=0")
        let times = try server.events().filter { $0.event == "begin" }.map(\.time)
        #expect(times[1] - times[0] > 0.9)
    }
}
