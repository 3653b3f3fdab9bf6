import Testing
import WebServer

@Suite struct WebRequestTests {
    @Test func `a path is split before it is decoded`() throws {
        let request = try #require(WebRequest(method: "GET", target: "/object/City/a%2Fb/../%2e?x=1+2&y&x=%26"))
        #expect(request.path == ["object", "City", "a/b", "..", "."])
        #expect(
            request.query["x"] == "1 2" && request.query["y"] == "" && request.query.values(of: "x") == ["1 2", "&"])
        #expect(WebRequest(method: "GET", target: "/")?.path == [])
        #expect(WebRequest(method: "GET", target: "/object/C/=../=%3D/=")?.path == ["object", "C", "..", "=", ""])
    }

    @Test func `a value may begin with a combining mark`() {
        for query in ["a=\u{301}b", "a=%CC%81b"] {
            #expect(FormFields(query).fields.map(\.name) == ["a"])
            #expect(FormFields(query)["a"]?.unicodeScalars.map(\.value) == [0x301, 0x62])
        }
    }

    @Test(arguments: ["http://evil.example/", "*", "", "/%zz", "/%ff", "//%"])
    func `targets of other forms are refused`(target: String) {
        #expect(WebRequest(method: "GET", target: target) == nil)
    }

    @Test func `a form needs its type`() throws {
        let body = Array("a=1&b=%C3%A5".utf8)
        func form(_ type: String) throws -> FormFields? {
            try #require(
                WebRequest(method: "POST", target: "/", headers: [("Content-Type", type)], body: body)
            ).form
        }
        #expect(try form("application/x-www-form-urlencoded; charset=utf-8")?["b"] == "å")
        #expect(try form("text/plain") == nil && form("application/json") == nil)
    }

    @Test func `a header field that occurs twice has no value`() throws {
        let request = try #require(
            WebRequest(method: "GET", target: "/", headers: [("Host", "localhost"), ("host", "evil.example")]))
        #expect(request.header("host") == nil && request.hasHeader("host"))
    }

    @Test func `cookies are read by name`() throws {
        let request = try #require(
            WebRequest(method: "GET", target: "/", headers: [("Cookie", "a=1; bmo-session=x=y"), ("cookie", "a=2")]))
        #expect(request.cookies == ["a": "1", "bmo-session": "x=y"])
    }
}
