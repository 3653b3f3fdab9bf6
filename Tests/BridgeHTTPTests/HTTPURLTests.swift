import BridgeHTTP
import Testing

@Suite struct HTTPURLTests {
    private func url(_ text: String) throws -> HTTPURL { try #require(HTTPURL(text)) }

    @Test(arguments: [
        ("http://h/v1", "users", "http://h/v1/users"), ("http://h/v1/", "/users", "http://h/v1/users"),
        ("http://h", "", "http://h/"), ("http://h/a?k=1", "b?l=2", "http://h/a/b?k=1&l=2"),
        ("http://h/a", "?l=2", "http://h/a?l=2"), ("http://h/a", "b c/é", "http://h/a/b%20c/%C3%A9"),
    ])
    func `a path goes below the base, with both queries`(base: String, path: String, result: String) throws {
        #expect(try url(base).appending(path: path)?.text == result)
    }

    @Test(
        arguments: ["http://h", "http://h/v1/", "http://h/a?k=1&b=2"],
        ["", "users", "/a/../b", "b?l=2&k=3", "?k=4", "b#c", "b?k=5#c", "b c/é?q={x}&%6B=6"])
    func `a path and a query are set together as one after the other`(base: String, path: String) throws {
        let base = try url(base)
        for query in [[], [("k", "x y")], [("k", "é&"), ("n", "#?"), ("k", "7")]] {
            #expect(
                base.appending(path: path, query: query) == base.appending(path: path)?.setting(query: query))
        }
        #expect(base.appending(path: path, query: [("n", "1")])?.queryValue("n") == "1")
    }

    @Test(arguments: [
        ("http://h/a/b?x=1", "?x=2", "http://h/a/b?x=2"), ("http://h/a/b", "c", "http://h/a/c"),
        ("http://h/a/b", "/c", "http://h/c"), ("http://h/a", "//other/c", "http://other/c"),
        ("https://h/a", "http://h/c", "http://h/c"),
    ])
    func `a reference is resolved against its base`(base: String, reference: String, result: String) throws {
        #expect(HTTPURL(reference, relativeTo: try url(base))?.text == result)
    }

    @Test func `an empty reference is refused`() throws {
        #expect(HTTPURL("", relativeTo: try url("http://h/a/b")) == nil)
    }

    @Test func `the origin is scheme, host and port`() throws {
        #expect(try url("http://H:80/a").origin == url("http://h/b?c").origin)
        #expect(try url("https://h/").origin == url("https://h:443/").origin)
        #expect(try url("http://h/").origin != url("https://h/").origin)
        #expect(try url("http://h/").origin != url("http://h:8080/").origin)
    }

    @Test func `query parameters are set, replaced and removed`() throws {
        let set = try url("http://h/?a=1&b=2&a=3").setting(query: [("a", "x y"), ("c", "&")])
        #expect(set.text == "http://h/?b=2&a=x%20y&c=%26")
        #expect(set.queryValue("a") == "x y")
        #expect(set.removing(queryNames: ["a", "b", "c"]).text == "http://h/")
    }

    @Test(arguments: [
        ("a%2Fb+c", "a/b c"), ("%C3%a9", "\u{e9}"), ("100%", "100%"), ("%+f%-1%g0%4", "% f%-1%g0%4"), ("%25+f", "% f"),
    ])
    func `only a % and two digits stand for a byte`(text: String, decoded: String) throws {
        #expect(HTTPURL.decode(text) == decoded)
        #expect(try url("http://h/?q=\(text)").queryValue("q") == decoded)
    }

    @Test func `a + in a path is a +`() throws {
        #expect(try url("http://h/a%2Bb+c%20d?x=1").lastPathSegment == "a+b+c d")
    }

    @Test func `URLs for messages hold no secrets`() {
        let redactor = HTTPRedactor(secrets: ["p@ss/word"], queryNames: ["my-key"])
        #expect(
            redactor.clean(url: "http://ann:pw@h/x?My_Key=1&access_token=2&q=3&Api-Key=4")
                == "http://h/x?My_Key=***&access_token=***&q=3&Api-Key=***")
        #expect(redactor.clean(url: "http://h/x?access_token&q=3&&x=?") == "http://h/x?access_token&q=3&&x=?")
        #expect(redactor.clean(url: "http://h/x?q=3&&access_token=a=b?c&x") == "http://h/x?q=3&&access_token=***&x")
        #expect(redactor.clean(url: "http://h/p%40ss%2Fword?q=p@ss/word") == "http://h/***?q=***")
        #expect(redactor.clean("said p@ss/word") == "said ***")
    }

    /// The search is the host's own: what it finds in a message, a bridge finds in a URL that it would keep.
    @Test(arguments: [
        "p@ss/word&\u{fc}", #"p@ss\/word\u0026\u00fc"#, "p%40ss%2fword%26%c3%bc", "p@ss/word&amp;&#252;",
        "cEBzcy93b3JkJsO8", "YTpwQHNzL3dvcmQmw7w=",
    ])
    func `a secret is found in every spelling`(text: String) {
        let redactor = HTTPRedactor(secrets: ["p@ss/word&\u{fc}", "ab"])
        #expect(redactor.holdsSecret("x \(text) y"))
        #expect(redactor.holdsSecret(url: "http://h/\(text)"))
        #expect(redactor.clean("x \(text) y").hasPrefix("x ") && redactor.clean("x \(text) y").contains("***"))
        #expect(!redactor.holdsSecret("ab cab"))
    }
}
