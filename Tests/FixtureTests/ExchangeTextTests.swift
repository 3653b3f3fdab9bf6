import Testing

@testable import BridgeRecording

/// How exchanges are written: readable, and without losing a letter.
@Suite struct ExchangeTextTests {
    private func text(_ body: String) -> String? {
        guard case .text(let text) = ExchangeText.body(Array(body.utf8), replace: { _, _, _ in nil }) else {
            return nil
        }
        return text
    }

    @Test func `JSON gets a line per member, and numbers and strings stay letter for letter`() {
        #expect(
            text(#"{"b":1.50e+3,"a":["\u00e9 \" {",-0,null],"c":{},"d":[]}"#) == #"""
                {
                  "b": 1.50e+3,
                  "a": [
                    "\u00e9 \" {",
                    -0,
                    null
                  ],
                  "c": {},
                  "d": []
                }
                """#)
    }

    @Test(arguments: ["{\"a\": ", "{\"a\": 1} {\"b\": 2}", "[1,", "hello", "{\"a\" 1}", "{'a': 1}"])
    func `text that is not JSON stays as it is`(body: String) { #expect(text(body) == body) }

    @Test func `XML gets space between elements only`() {
        #expect(
            text("<?xml version=\"1.0\"?><a x=\"1 > 0\"><b>t <i>mixed</i> </b><c/><d><e> </e></d></a>") == """
                <?xml version="1.0"?>
                <a x="1 > 0">
                  <b>t <i>mixed</i> </b>
                  <c/>
                  <d>
                    <e> </e>
                  </d>
                </a>
                """)
    }

    @Test(arguments: ["<a><b></a>", "<a", "<html><body>x</body></html>", "<a>1 < 2</a"])
    func `text that is not an XML document stays as it is`(body: String) { #expect(text(body) == body) }

    @Test func `an exchange is read as it was written`() throws {
        var file = ExchangeFile()
        file.bridge = "api"
        file.entity = "Thing, request 9"
        file.number = 3
        file.after = 7
        file.method = "POST"
        file.target = "http://host/a b?x=1"
        file.headers = [Exchange.Field("Accept", "a: b"), Exchange.Field("X", "")]
        file.body = .text("=== 200\n\\ @file\n\n")
        file.status = "200"
        file.replyHeaders = [Exchange.Field("@url", "http://other/")]
        file.replyBody = .bytes([0, 13, 255])
        let read = ExchangeFile(file.text) { $0 == "reply" ? [0, 13, 255] : nil }
        #expect(read == file, "\(file.text)")
        file.body = .none
        file.replyBody = .text("@file")
        #expect(ExchangeFile(file.text) { _ in nil } == file, "\(file.text)")
    }

    @Test func `secrets go in all their forms, and by names that are only used for them`() {
        let redaction = ExchangeRedaction(secrets: ["pä\"ss&word"])
        let body = #"{"note": "pä\"ss&word", "api_key": "k", "password": "x", "next_page_token": "stays"}"#
        guard case .text(let json) = redaction.clean(body: Array(body.utf8), type: "", isReply: false) else {
            Issue.record("no text")
            return
        }
        #expect(
            json
                == "{\n  \"note\": \"***\",\n  \"api_key\": \"***\",\n  \"password\": \"***\",\n  \"next_page_token\": \"stays\"\n}"
        )
        #expect(
            redaction.clean(target: "http://u:p@host/x?q=p%C3%A4%22ss%26word&api_key=1&page=2")
                == "http://host/x?q=***&api_key=***&page=2")
        let form = redaction.clean(
            body: Array("a=1&client_secret=2".utf8), type: "application/x-www-form-urlencoded", isReply: false)
        #expect(form == .text("a=1&client_secret=***"))
        let fields = [
            Exchange.Field("Authorization", "Basic x"), Exchange.Field("X-Session-Id", "1"),
            Exchange.Field("Accept", "*"),
        ]
        #expect(redaction.clean(fields).map(\.value) == ["*", "***", "***"])
    }

    @Test(arguments: [
        (#"{"Token": "hunter22"}"#, "{\n  \"Token\": \"***\"\n}"),
        (#"{"AUTHORIZATION": "Bearer x"}"#, "{\n  \"AUTHORIZATION\": \"***\"\n}"),
        (#"{"secret": 12345678}"#, "{\n  \"secret\": \"***\"\n}"),
        (#"{"id": 12345678}"#, "{\n  \"id\": 12345678\n}"),
        ("see http://h/x?a=1&access_token=abc&b=2 <", "see http://h/x?a=1&access_token=***&b=2 <"),
        ("<a>http://h/x?a=1&amp;SIG=a%2fb&amp;b=2</a>", "<a>http://h/x?a=1&amp;SIG=***&amp;b=2</a>"),
        (
            #"["http:\/\/h\/x?a=1\u0026api_key=abc\u0026b=2"]"#,
            "[\n  \"http:\\/\\/h\\/x?a=1\\u0026api_key=***\\u0026b=2\"\n]"
        ),
        ("a token=1 and b&c=2?page=3", "a token=1 and b&c=2?page=3"),
    ])
    func `a body loses what its names call a secret, and its URLs their secret parameters`(body: String, clean: String)
    {
        let found = ExchangeRedaction(secrets: []).clean(body: Array(body.utf8), type: "", isReply: false)
        #expect(found == .text(clean))
    }

    @Test(arguments: [
        (
            #"<http://h/b?page=2&api_key=k>; rel="next", <http://u:p@h/b?page=3>; rel="last""#,
            #"<http://h/b?page=2&api_key=***>; rel="next", <http://h/b?page=3>; rel="last""#
        ),
        ("http://u:p@h/cb?code=a,b;c'd)e&x=1#access_token=k", "http://h/cb?code=***&x=1#access_token=***"),
        ("http://h/a?token=k, http://v@h/b", "http://h/a?token=***, http://h/b"),
        ("/next?page=2", "/next?page=2"),
    ])
    func `the URLs in a header field lose user info and secret parameters, and nothing else`(
        value: String, clean: String
    ) {
        let fields = ExchangeRedaction(secrets: []).clean([Exchange.Field("Link", value)], isReply: true)
        #expect(fields.map(\.value) == [clean])
    }

    @Test func `what a reply's header fields give as a credential is found in its body, too`() {
        let redaction = ExchangeRedaction(secrets: [])
        let fields = [
            Exchange.Field("Set-Cookie", "sid=csrfHHHIII888999; HttpOnly"),
            Exchange.Field("Set-Cookie", "seen=true; Path=/"), Exchange.Field("Set-Cookie", "since=1767225600"),
            Exchange.Field("X-Auth-Token", "tokAAABBBCCC"), Exchange.Field("WWW-Authenticate", "Basic"),
        ]
        redaction.learn(from: fields)
        let body = #"{"csrf":"csrfHHHIII888999","on":true,"at":1767225600,"token":"tokAAABBBCCC","t":"tokAAABBBCCC"}"#
        guard
            case .text(let text) = redaction.clean(body: Array(body.utf8), type: "application/json", isReply: true)
        else {
            Issue.record("no text")
            return
        }
        let lines = text.split(separator: "\n").dropFirst().dropLast().map { $0.drop { $0 == " " } }
        #expect(
            lines == [
                #""csrf": "***1","#, #""on": true,"#, #""at": 1767225600,"#, #""token": "***2","#, #""t": "***2""#,
            ])
        #expect(
            redaction.clean(fields, isReply: true).map(\.value) == [
                "seen=***; Path=/", "sid=***1; HttpOnly", "since=***", "***", "***2",
            ])
    }

    @Test func `a broken exchange is reported with its line`() {
        func fault(_ text: String) -> String? {
            ExchangeFile.fault(in: text).map { "\($0.line): \($0.words)" }
        }
        #expect(fault("# a: B\nGET /x\nAccept: a\n\n=== 200\n\n{}\n") == nil)
        #expect(fault("garbage\n") == "1: no METHOD and URL, such as `GET http://host/path`")
        #expect(fault("# a\nGET /x\n\n200\n") == "2: no line `=== 200` with the reply's status follows")
        #expect(fault("GET /x\n\n===\n") == "3: no status, such as `=== 200`")
        let status = "3: no HTTP status, such as `=== 200`, nor an error, such as `=== failed timeout`"
        for wrong in ["abc", "ok", "99999", "2x0", "+12", "200 OK", "failed", "failed somehow", "failed timeout twice"]
        {
            #expect(fault("GET https://h/x\n\n=== \(wrong)\n") == status, "\(wrong)")
        }
        for good in ["100", "999", "failed timeout", "failed rate_limited retryable"] {
            #expect(fault("GET http://h/x\n\n=== \(good)\n") == nil, "\(good)")
        }
        #expect(fault("LIST /x\n\n=== EACCES\n") == nil, "a share has words of its own")
        #expect(fault("GET /x\nAccept\n\n=== 200\n") == "2: no header field of the form `Name: value`")
    }

    @Test func `the parameters' order does not matter, their values do`() {
        func key(_ target: String, body: String = "") -> ExchangeKey {
            var file = ExchangeFile()
            file.method = "GET"
            file.target = target
            file.body = body.isEmpty ? .none : .text(body)
            return ExchangeKey(file)
        }
        #expect(key("/a?x=1&y=2") == key("/a?y=2&x=1"))
        #expect(key("/a?x=1") != key("/a?x=2"))
        #expect(
            key("/a?x=1").differences(from: key("/a?x=2&z=3")).words
                == "the parameter x is 1, recorded 2; the parameter z is absent, recorded 3")
        #expect(
            key("/a", body: "1\n2").differences(from: key("/a", body: "1\n3")).words
                == "the body's line 2 is 2, recorded 3")
    }

    @Test(.timeLimit(.minutes(5)))
    func `a reply of many secrets is cleaned in one go`() {
        func token(_ number: Int) -> String { String(UInt64(number &+ 1) &* 0x9E37_79B9_7F4A_7C15, radix: 36) }
        let redaction = ExchangeRedaction(secrets: [])
        let body = "[" + (0..<2000).map { "{\"access_token\":\"\(token($0))\"}" }.joined(separator: ",") + "]"
        guard case .text(let clean) = redaction.clean(body: Array(body.utf8), type: "application/json", isReply: true)
        else {
            Issue.record("no text")
            return
        }
        #expect(clean.contains(#""access_token": "***2000""#))
        #expect(redaction.clean("a \(token(1)) b") == "a ***2 b")
    }
}
