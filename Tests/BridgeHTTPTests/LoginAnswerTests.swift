import BridgeKit
import TestSupport
import Testing

@testable import BridgeHTTP

/// What a login or a token endpoint answers.
@Suite struct LoginAnswerTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.oddHeads.get() }

    /// What the server gets of the credential.
    private func credential(_ auth: [(String, String)]) throws -> String {
        let client = try client { writer in
            writer.set("url", server.url)
            writer.setAuth(auth)
        }
        return String(decoding: try client.start(HTTPRequest(url: server.url + "/echo")).body(), as: UTF8.self)
    }

    private func login(_ name: String) throws -> String {
        try credential([("type", "login"), ("path", "/login/\(name)"), ("user", "ann"), ("password", "s3cret")])
    }

    private func token(_ name: String) throws -> String {
        try credential([("type", "oauth2"), ("token_url", "/token/\(name)"), ("client_id", "bmo")])
    }

    @Test(arguments: ["twice", "ended", "found", "seen", "led", "absent", "abroad"])
    func `a login's cookies are those that last, also of a redirect`(name: String) throws {
        #expect(try login(name) == "SID=new")
    }

    @Test func `the cookies of a redirect and of the page to which it leads are kept`() throws {
        #expect(try login("both") == "csrf=abc; SID=new")
    }

    @Test(arguments: [("refused", "/login/twice"), ("refused-page", nil)] as [(String, String?)])
    func `a login that redirects without a cookie is refused`(name: String, remote: String?) throws {
        let error = try bridgeError { _ = try login(name) }
        #expect(error.code == .authentication)
        #expect(error.message == "the login redirects and sets no cookie")
        #expect(error.remote == remote)
    }

    @Test func `a cookie that ends at once is none`() {
        #expect(LoginCookies(["a=1; Path=/", "b=2", "a=; Max-Age=0"]).field == "b=2")
        #expect(LoginCookies(["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9", "x"]).field == "a=1")
        #expect(LoginCookies(["a=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT"]).isEmpty)
        #expect(LoginCookies(["a=x=y; Secure"]).field == "a=x=y")
    }

    @Test func `a byte order mark before a token is ignored, and a line end behind it`() throws {
        #expect(try token("mark") == "Bearer t0k3n")
    }

    @Test(arguments: [("break", "a line break"), ("zero", "a NUL character")])
    func `a token that would end its header field is refused`(name: String, words: String) throws {
        let error = try bridgeError { _ = try token(name) }
        #expect(error.code == .malformed)
        #expect(error.message == "the token request: the token contains \(words)")
    }

    @Test func `a reply as a form is named`() throws {
        let error = try bridgeError { _ = try token("form") }
        #expect(error.message == "the token request: the reply has no token at $.access_token")
        #expect(error.remedy?.hasPrefix("the reply is form-encoded") == true)
    }
}
