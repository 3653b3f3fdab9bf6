import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Each paging style against a real server.
@Suite struct PagingTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.fixture()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
    }

    private func scan(_ section: Literal, cursor: String? = nil) throws -> Scan {
        try Scan(source(bridge, section, cursor: cursor))
    }

    private func requests() throws -> [RemoteServer.Event] { try server.events().filter { $0.event == "begin" } }

    @Test func `without paging one reply is the whole listing`() throws {
        let scan = try scan(["path": "/users", "query": ["count": 25], "paging": "none"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.count == 1)
        #expect(scan.last?.isComplete == true)
        #expect(scan.records[0] == #"{"id":1,"name":"User 1","score":0.5,"address":{"city":"Lyon","tags":["a","b"]}}"#)
    }

    @Test func `numbered pages end with a short one`() throws {
        let scan = try scan([
            "path": "/users/page", "records": "$.items",
            "paging": ["style": "page", "size_parameter": "per_page", "size": 10],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.map(\.isPageEnd) == [true, true, true])
        #expect(scan.pages.map(\.cursor) == ["p2 page:2", "p3 page:3", nil])
        #expect(scan.last?.isComplete == true)
    }

    @Test func `numbered pages may begin at zero and end with an empty one`() throws {
        let scan = try scan([
            "path": "/users/page?first=0&count=20", "records": "$.items", "paging": ["style": "page", "start": 0],
        ])
        #expect(scan.ids == Array(1...20))
        #expect(scan.last?.isComplete == true)
    }

    @Test(arguments: ["total", "pages"])
    func `a total ends the pages without one request too many`(member: String) throws {
        let scan = try scan([
            "path": "/users/page?total=1&count=20", "records": "$.items",
            "paging": ["style": "page", "size_parameter": "per_page", "size": 5, member: "$.meta.\(member)"],
        ])
        #expect(scan.ids == Array(1...20))
        #expect(scan.last?.isComplete == true)
        #expect(try requests().count == 4)
    }

    @Test func `a number of pages that no listing has breaks nothing`() throws {
        let scan = try scan([
            "path": "/users/page?total=1&count=20&claim=9223372036854775807", "records": "$.items",
            "paging": ["style": "page", "size_parameter": "per_page", "size": 5, "pages": "$.meta.pages"],
        ])
        #expect(scan.ids == Array(1...20))
        #expect(scan.last?.isEnd == true)
    }

    @Test func `offsets grow by what came`() throws {
        let scan = try scan([
            "path": "/users/offset", "records": "$.items", "paging": ["style": "offset", "size": 10],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.map(\.cursor) == ["p2 offset:10", "p3 offset:20", nil])
        #expect(scan.last?.isComplete == true)
    }

    @Test(arguments: [("next", "$.next"), ("relative", "$.next"), ("nested-next", "$.links.next.href")])
    func `a next URL is followed, absolute or relative`(style: String, path: String) throws {
        let scan = try scan([
            "path": "/users/\(style)", "records": .text(style == "nested-next" ? "$.data.items" : "$.items"),
            "paging": ["style": "next_url", "path": .text(path)],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(scan.warnings.isEmpty)
    }

    @Test func `a Link header is followed`() throws {
        let scan = try scan(["path": "/users/link", "paging": ["style": "link_header"]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a cursor goes into its parameter`() throws {
        let scan = try scan([
            "path": "/users/cursor", "records": "$.items",
            "paging": ["style": "cursor", "path": "$.next_cursor", "parameter": "cursor"],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.map(\.cursor) == ["p2 cursor:c10", "p3 cursor:c20", nil])
        #expect(scan.last?.isComplete == true)
    }

    @Test(
        arguments: [
            (["x": 1], "json", #"{\"x\":1,\"after\":\"a{parent.id}b{{since}}\"}"#),
            (["after": "{parent.id}", "x": "{parent.id}"], "json", #"{\"after\":\"a{parent.id}b{{since}}\",\"x\":7}"#),
            (["after": "", "x": "{parent.id}"], "form", "after=a%7Bparent.id%7Db%7B%7Bsince%7D%7D&x=7"),
            (["x": 1], "form", "x=1&after=a%7Bparent.id%7Db%7B%7Bsince%7D%7D"),
        ] as [(Literal, String, String)])
    func `a cursor in a body is not a template`(body: Literal, format: String, expected: String) throws {
        let section: Literal = [
            "path": "/echo", "records": "$", "body": body, "body_format": .text(format),
            "paging": ["style": "cursor", "path": "$.next", "parameter": "after", "in": "body"],
        ]
        let request = FetchRequest(
            entity: "User", section: section.options, cursor: "p2 cursor:a{parent.id}b{{since}}", since: "2024",
            parent: (["id": 7] as Literal).options)
        let record = try #require(try Scan(bridge.fetch(request)).records.first)
        #expect(record.contains(#""body":"\#(expected)""#), "\(record)")
    }
}
