import Testing
import WebPage
import WebServer

@Suite struct HostRuleTests {
    @Test(arguments: ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:1", "[::1]"])
    func `the machine's names for itself are allowed`(host: String) { #expect(HostRule.loopback.allows(host)) }

    @Test(
        arguments: [
            "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "127.0.0.2", "", ":80", "[::1",
            "localhost:http", "localhost:80:80", "evil.example@localhost", "[::1]x",
        ])
    func `other names are not`(host: String) { #expect(!HostRule.loopback.allows(host)) }

    @Test(arguments: [
        ("Shop.Example.org", "shop.example.org"), ("4shop", "4shop"), ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8::1", "[2001:db8::1]"), ("[::1]", "[::1]"), ("shop.example.org.", "shop.example.org"),
    ])
    func `a name is taken in the form in which requests have it`(text: String, name: String) {
        #expect(HostRule.name(of: text) == name)
        #expect(HostRule(names: [name], allowsAddresses: false).allows(text.contains("::") ? name : text))
    }

    @Test(arguments: [
        "", "*", "a b", "shop:8443", "http://shop", "shop/", "a..b", "shop..", ".", "192.0.2.1:80", "1.2.3", "[::1]:80",
        "b\u{FC}cher",
    ])
    func `what no request can have is not a name`(text: String) { #expect(HostRule.name(of: text) == nil) }

    @Test func `a dot at the end of a name does not count`() {
        let rule = HostRule(names: ["Shop.Example.", "4shop"], allowsAddresses: false)
        #expect(rule.allows("shop.example") && rule.allows("shop.example.:80") && rule.allows("4shop."))
        #expect(!rule.allows("shop.example..") && !rule.allows(".") && !rule.allows("shop"))
    }

    @Test func `addresses are allowed only where the server listens on all`() {
        let rule = HostRule(names: ["Page.Example"], allowsAddresses: true)
        #expect(rule.allows("page.example") && rule.allows("192.0.2.1:80") && rule.allows("[2001:db8::1]"))
        #expect(!rule.allows("evil.example") && !rule.allows("1.2.3") && !rule.allows("1.2.3.4.example"))
    }
}

@Suite struct FormRuleTests {
    @Test func `while a changed configuration is read, only the stop of a sync is accepted`() {
        let changing = WebSite.Access(mayChange: { false })
        #expect(changing.allowsForm(to: ["sync", "stop"]))
        #expect(!changing.allowsForm(to: ["sync"]) && !changing.allowsForm(to: ["entities", "sync", "stop"]))
        #expect(WebSite.Access().allowsForm(to: ["sync"]))
    }
}

@Suite struct OriginRuleTests {
    private func allows(_ headers: [(name: String, value: String)]) throws -> Bool {
        let all = [(name: "Host", value: "localhost:80")] + headers
        return OriginRule.allows(try #require(WebRequest(method: "POST", target: "/sync", headers: all)))
    }

    @Test func `a form of the page itself is allowed`() throws {
        #expect(try allows([("Sec-Fetch-Site", "same-origin"), ("Origin", "http://localhost:80")]))
        #expect(try allows([("Origin", "http://LOCALHOST:80")]))
        #expect(try allows([]))
    }

    @Test(
        arguments: [
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", ""),
            ("Origin", "http://evil.example"), ("Origin", "null"), ("Origin", "http://localhost:81"),
            ("Origin", "http://localhost"), ("Origin", "localhost:80"),
        ])
    func `a form of another site is not`(header: (name: String, value: String)) throws {
        #expect(try !allows([header]))
    }

    private func allowsReading(_ headers: [(name: String, value: String)]) throws -> Bool {
        let all = [(name: "Host", value: "localhost:80")] + headers
        return OriginRule.allowsReading(try #require(WebRequest(method: "GET", target: "/plan", headers: all)))
    }

    @Test func `another site may link to a page, and not embed it`() throws {
        #expect(try allowsReading([]) && allowsReading([("Sec-Fetch-Site", "same-origin")]))
        for site in ["cross-site", "same-site"] {
            let fields = [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
            #expect(try allowsReading(fields))
            #expect(try !allowsReading([fields[0], ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")]))
            #expect(try !allowsReading([fields[0], fields[1], ("Sec-Fetch-Dest", "iframe")]))
        }
    }

    @Test func `a header field that occurs twice is not trusted`() throws {
        #expect(try !allows([("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-origin")]))
        #expect(try !allows([("Origin", "http://evil.example"), ("Origin", "http://localhost:80")]))
    }
}

@Suite struct SessionTests {
    @Test func `a token begins one session`() throws {
        let sessions = Sessions()
        let token = sessions.loginToken
        #expect(token.utf8.count == 64)
        #expect(sessions.begin(token: "") == nil)
        #expect(sessions.begin(token: String(token.dropLast())) == nil)
        let session = try #require(sessions.begin(token: token))
        #expect(sessions.begin(token: token) == nil)
        #expect(sessions.loginToken != token)
        #expect(sessions.session(session.id) == session)
        #expect(sessions.session(session.formToken) == nil && sessions.session("") == nil)
        sessions.end(session)
        #expect(sessions.session(session.id) == nil)
    }

    @Test func `ten wrong passwords in a minute close the door`() {
        let sessions = Sessions()
        guard case .began = sessions.begin(password: "right", is: "right") else {
            Issue.record("the password is right")
            return
        }
        for _ in 1...10 { #expect(sessions.begin(password: "wrong", is: "right") == .wrong) }
        #expect(sessions.begin(password: "right", is: "right") == .tooMany)
        // A program with an old password does not keep people out, nor do people a program.
        #expect(sessions.accepts(password: "right", is: "right"))
        for _ in 1...10 { #expect(!sessions.accepts(password: "wrong", is: "right")) }
        #expect(!sessions.accepts(password: "right", is: "right"))
    }

    @Test func `a notice is shown once`() throws {
        let sessions = Sessions()
        let session = try #require(sessions.begin(token: sessions.loginToken))
        sessions.leave(Notice(.good, "done"), for: session)
        #expect(sessions.takeNotice(for: session)?.text == "done")
        #expect(sessions.takeNotice(for: session) == nil)
    }

    @Test func `the session that was not used for the longest time makes room`() throws {
        let sessions = Sessions()
        let first = try #require(sessions.begin(token: sessions.loginToken))
        let second = try #require(sessions.begin(token: sessions.loginToken))
        #expect(sessions.session(first.id) != nil)
        for _ in 1...15 { _ = sessions.begin(token: sessions.loginToken) }
        #expect(sessions.session(first.id) != nil && sessions.session(second.id) == nil)
    }

    @Test(arguments: [("a", "a", true), ("a", "b", false), ("a", "", false), ("", "a", false), ("ab", "abab", false)])
    func `equal secrets are equal`(secret: String, given: String, isEqual: Bool) {
        #expect(ConstantTime.equal(secret, given) == isEqual)
    }
}
