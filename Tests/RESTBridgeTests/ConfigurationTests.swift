import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Options, sections, credentials and the check.
@Suite struct ConfigurationTests {
    private let offline: Literal = ["url": "http://127.0.0.1:9"]

    private func problem(_ section: Literal) throws -> BridgeError {
        let bridge = try bridge(offline)
        let error = try bridgeError { _ = try source(bridge, section) }
        #expect(error.code == .configuration)
        return error
    }

    @Test func `both schemas are JSON, strict, described, and mark the secrets`() throws {
        for schema in [RESTBridge.descriptor.optionsSchema, RESTBridge.descriptor.entitySchema] {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any])
            #expect((object["properties"] as? [String: Any])?.isEmpty == false)
            try check(object, "")
        }
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(RESTBridge.descriptor.optionsSchema.utf8)) as? [String: Any])
        #expect(
            Set(secrets(object, "")) == [
                ".auth.password", ".auth.token", ".auth.value", ".auth.client_secret", ".auth.refresh_token",
                ".auth.private_key", ".auth.secret", ".tls.client_key_password", ".proxy.password",
            ])
    }

    private func check(_ schema: [String: Any], _ path: String) throws {
        guard let members = schema["properties"] as? [String: [String: Any]] else { return }
        #expect(schema["additionalProperties"] as? Bool == false, "\(path) takes unknown members")
        for (name, member) in members {
            #expect(member["description"] is String, "\(path).\(name) has no description")
            try check(member, "\(path).\(name)")
        }
    }

    private func secrets(_ schema: [String: Any], _ path: String) -> [String] {
        let members = schema["properties"] as? [String: [String: Any]] ?? [:]
        return (schema["writeOnly"] as? Bool == true ? [path] : [])
            + members.flatMap { secrets($0.value, path + "." + $0.key) }
    }

    @Test(arguments: [
        ("127.0.0.1:18911", "neither http:// nor https://", "put https:// in front"),
        ("https://user:pw@host/", "url contains a user", "credentials under auth"),
        ("ftp://host/", "url is not an http or https URL", "https://host/path"),
    ])
    func `an impossible url is reported with what is wrong with it`(url: String, words: String, remedy: String) throws {
        let error = try bridgeError { _ = try bridge(["url": .text(url)]) }
        #expect(error.message.contains(words) && error.remedy?.contains(remedy) == true, "\(error)")
    }

    @Test(arguments: ["", "ftp://host/", "not a url", "http://", "https://user:pw@host/"])
    func `a URL that cannot be used is refused`(url: String) throws {
        let error = try bridgeError { _ = try bridge(["url": .text(url)]) }
        #expect(error.code == .configuration)
        #expect(!error.description.contains("pw"))
    }

    @Test(arguments: [
        ("items", "$ must come first at character 1"), ("$.", "a name must follow the dot at character 3"),
        ("$..a", "the descendant segment .. is not supported at character 2"),
        ("$[-1]", "only ['name'], [*], [0] and [?@.name=='text'] are supported in brackets at character 4"),
        ("$[?@.a>1]", "a filter can only compare with == at character 7"),
        ("$['a", "the bracket is not closed at character 5"), ("$.a b", "unexpected \" \" at character 4"),
    ])
    func `a path outside the subset is refused with its place`(path: String, message: String) throws {
        let error = try problem(["records": .text(path)])
        #expect(error.message == "User: records: \"\(path)\" is not a path: \(message)")
    }

    @Test func `paging options that do not belong together are refused`() throws {
        #expect(
            try problem(["paging": ["style": "pages"]]).remedy
                == "use one of: auto, none, page, offset, next_url, link_header, cursor, continue, keyset, code")
        #expect(
            try problem(["paging": ["style": "page", "path": "$.x"]]).message
                == "User: paging.path has no effect with paging.style page")
        #expect(try problem(["paging": ["style": "cursor"]]).message == "User: paging.path is missing")
        #expect(
            try problem(["paging": ["style": "page", "size_parameter": "n"]]).message == "User: paging.size is missing")
        #expect(
            try problem(["records": "$.a", "paging": ["style": "next_url", "path": "$.a.next"]]).message
                == "User: the paging path $.a.next lies inside the records at $.a")
        #expect(try problem(["path": "https://elsewhere/users"]).message.contains("is not a path below url"))
    }

    @Test func `path, query and headers make the request`() throws {
        let server = try RemoteServer.fixture()
        let bridge = try bridge(["url": "\(server.url)/echo/?tenant=7", "headers": ["X-From": "options"]])
        let scan = try Scan(
            source(
                bridge,
                [
                    "path": "?a=1", "method": "POST", "query": ["q": "a b&c=ü", "ids": [1, 2], "on": true],
                    "headers": ["X-Own": "section"],
                ]))
        let record = try #require(scan.records.first)
        #expect(record.contains(#""path":"/echo/?tenant=7&a=1&q=a%20b%26c%3D%C3%BC&ids=1&ids=2&on=true""#))
        #expect(record.contains(#""method":"POST""#))
        #expect(record.contains(#""x-from":"options""#))
        #expect(record.contains(#""x-own":"section""#))
        #expect(record.contains(#""accept":"application/json""#))
    }

    private static let credentials: [(Literal, String)] = [
        (["type": "basic", "user": "ann", "password": "s3cret-pw"], "s3cret-pw"),
        (["type": "bearer", "token": "s3cret-token"], "s3cret-token"),
        (["type": "api_key", "header": "X-API-Key", "value": "s3cret/key"], "s3cret/key"),
        (["type": "api_key", "query": "api_key", "value": "s3cret/key"], "s3cret/key"),
    ]

    @Test(arguments: credentials)
    func `credentials stay at home and out of every error`(auth: Literal, secret: String) throws {
        let server = try RemoteServer.fixture()
        let bridge = try bridge(["url": "\(server.url)", "auth": auth])
        // The second page is on another origin.
        let scan = try Scan(
            source(bridge, ["path": "/users/abroad?count=20", "records": "$.items", "paging": ["style": "next_url"]]))
        #expect(scan.ids == Array(1...20))
        let events = try server.events().filter { $0.event == "begin" }
        #expect(events.map(\.origin) == [0, 1])
        func carries(_ event: RemoteServer.Event) -> Bool {
            event.path.contains("api_key=") || event.headers["authorization"] != nil
                || event.headers["x-api-key"] != nil
        }
        #expect(events.map(carries) == [true, false])
        // The server tells the request's URL and headers in its reply: nothing of it may come through.
        for path in ["/status/500", "/malformed/truncated", "/echo", "/status/401?html=1", "/missing", "/truncated"] {
            let error = try bridgeError { _ = try Scan(source(bridge, ["path": .text(path), "records": "$.nothing"])) }
            for form in [secret, "s3cret%2Fkey", "YW5uOnMzY3JldC1wdw=="] {
                #expect(!error.description.contains(form), "\(path): \(error)")
            }
        }
    }

    @Test func `a body goes to no origin that a reply names`() throws {
        let server = try RemoteServer.fixture()
        let bridge = try bridge(["url": "\(server.url)", "parameters": ["secret": "s3cret"]])
        let body: Literal = ["api_key": "{secret}"]
        let section: Literal = [
            "path": "/users/abroad", "method": "POST", "body": body, "records": "$.items",
            "paging": ["style": "next_url"],
        ]
        let next = try bridgeError { _ = try Scan(source(bridge, section)) }
        #expect(next.code == .permission)
        #expect(
            next.message == "page 1 of User: the next request is a POST with a body, to another origin than that of url"
        )
        #expect(next.location == server.url + "/users/abroad")
        // Stored by an earlier scan: a page's cursor, and a delta link.
        let stored = try bridgeError {
            _ = try Scan(source(bridge, section, cursor: "p2 url:\(server.otherURL)/users/abroad?after=10"))
        }
        #expect(stored.code == .permission)
        let delta: Literal = [
            "path": "/users", "method": "POST", "body": body, "incremental": ["token": "$.delta"], "paging": "none",
        ]
        let link = try bridgeError {
            _ = try Scan(
                bridge.fetch(
                    FetchRequest(
                        entity: "User", section: delta.options, token: #"{"delta":"\#(server.otherURL)/users"}"#)))
        }
        #expect(link.code == .permission)
        #expect(try server.events().nonEmptyAllSatisfy { $0.origin == 0 })
    }

    @Test func `a next URL with the key in it is asked for at home only`() throws {
        let server = try RemoteServer.fixture()
        let known = try bridge([
            "url": "\(server.url)", "auth": ["type": "api_key", "query": "token", "value": "s3cret"],
        ])
        let plain = try bridge(["url": "\(server.url)", "parameters": ["secret": "s3cret"]])
        let cases: [(RESTBridge, Literal)] = [(known, [:]), (plain, ["token": "{secret}"])]
        for (bridge, query) in cases {
            let section: Literal = [
                "path": "/users/abroad", "query": query, "records": "$.items", "paging": ["style": "next_url"],
            ]
            let error = try bridgeError { _ = try Scan(source(bridge, section)) }
            #expect(error.code == .permission)
            #expect(
                error.message
                    == "page 1 of User: the next request is a URL with a credential in it, to another origin than that of url"
            )
            #expect(!error.description.contains("s3cret"))
        }
        #expect(try server.events().nonEmptyAllSatisfy { $0.origin == 0 })
    }

    @Test func `a next URL with the key in it gives a cursor without it`() throws {
        let server = try RemoteServer.fixture()
        let bridge = try bridge([
            "url": "\(server.url)", "auth": ["type": "api_key", "query": "token", "value": "s3cret"],
        ])
        let scan = try Scan(
            source(bridge, ["path": "/users/next", "records": "$.items", "paging": ["style": "next_url"]]))
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.first?.cursor == "p2 url:\(server.url)/users/next?after=10&count=25")
        #expect(try server.events().nonEmptyAllSatisfy { $0.path.contains("token=s3cret") })
        #expect(scan.pages.nonEmptyAllSatisfy { $0.location?.contains("s3cret") == false })
    }

    @Test func `with keep_query the section's parameters go with each link that lacks them`() throws {
        let server = try RemoteServer.fixture()
        let scan = try Scan(
            source(
                bridge(["url": "\(server.url)"]),
                [
                    "path": "/users/next", "query": ["count": 25, "state": "a b"], "records": "$.items",
                    "paging": ["style": "next_url", "keep_query": true],
                ]))
        #expect(scan.ids == Array(1...25) && scan.last?.isComplete == true)
        let paths = Set(try server.events().map(\.path))
        #expect(
            paths == [
                "/users/next?count=25&state=a%20b", "/users/next?after=10&count=25&state=a%20b",
                "/users/next?after=20&count=25&state=a%20b",
            ])
    }

    @Test func `the check names what answered`() throws {
        let server = try RemoteServer.fixture()
        let good = try bridge(["url": "\(server.url)", "check_path": "/users?count=1"])
        #expect(try good.check()?.hasPrefix("\(server.url)/users?count=1 answers 200") == true)
        let bad = try bridge(["url": "\(server.url)", "check_path": "/status/401"])
        #expect(try bridgeError { _ = try bad.check() }.code == .authentication)
        let gone = try bridge(offline)
        let error = try bridgeError { _ = try gone.check() }
        #expect(error.code == .unreachable)
        #expect(error.isRetryable)
    }
}
