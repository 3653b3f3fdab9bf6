import BridgeKit
import Glibc
import RESTBridge
import TestSupport
import Testing

/// Listings of several pages that are asked for again with what an earlier scan left.
@Suite struct ListingCheckTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.fixture()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo"])
    }

    /// What is said of paging; nil where it is to be found.
    private static let styles: [(style: String, paging: Literal?)] = [
        ("link", nil), ("link", ["style": "link_header"]), ("next", nil),
        ("next", ["style": "next_url", "path": "$.next"]),
        ("page", ["style": "page", "page_parameter": "page", "size_parameter": "per_page", "size": 10]),
    ]

    private func section(_ style: String, _ paging: Literal?) -> Literal {
        var members: Literal.Members = [("path", "marked"), ("query", ["of": "k", "style": .text(style)])]
        if let paging { members.append(("paging", paging)) }
        return .object(members)
    }

    private func source(_ section: Literal, _ token: String?) throws -> any RecordSource {
        try bridge.fetch(FetchRequest(entity: "User", section: section.options, token: token))
    }

    private func scan(_ section: Literal, token: String? = nil) throws -> Scan { try Scan(source(section, token)) }

    private func set(_ queries: String...) throws {
        var members: Literal.Members = [("of", "k")]
        for query in queries {
            let pair = query.split(separator: "=").map(String.init)
            members.append((pair[0], .text(pair[1])))
        }
        _ = try scan(["path": "marked-set", "paging": "none", "query": .object(members)])
    }

    /// The requests since `count` of them, each with whether it was conditional.
    private func requests(after count: Int = 0) throws -> [Bool] {
        // A scan that guesses how many pages there are may have asked for some beyond the last one, the third.
        let beyond = (4...9).map { "&page=\($0)" }
        return try server.events().filter { event in
            event.event == "begin" && event.path.hasPrefix("/zoo/marked?")
                && !beyond.contains { event.path.contains($0) }
        }.dropFirst(count)
            .map { $0.headers.keys.contains { $0.lowercased() == "if-none-match" } }
    }

    @Test(arguments: styles)
    func `pages that did not move are not sent again`(style: String, paging: Literal?) throws {
        let section = section(style, paging)
        let first = try scan(section)
        #expect(first.ids == Array(1...25))
        let token = try #require(first.last?.token)
        let count = try settledCount()
        let second = try scan(section, token: token)
        #expect(second.records.isEmpty)
        #expect(second.last?.isUnchanged == true)
        #expect(second.last?.isComplete == false)
        #expect(second.last?.token == token)
        // Requests that are on their way at the same time may be heard in any order.
        let asked = try requests(after: count).sorted { $0 && !$1 }
        #expect(asked == [true, true, false], "the last page tells itself that none follows")
    }

    /// The number of requests once none arrives any more: a request for the next page that the first scan gave up may
    /// reach a busy server late.
    private func settledCount() throws -> Int {
        var count = try requests().count
        while true {
            usleep(100_000)
            let now = try requests().count
            if now == count { return count }
            count = now
        }
    }

    @Test(arguments: styles, ["users=26", "users=24", "name=Ann", "users=9"])
    func `a page that moved lets all be read`(style: (style: String, paging: Literal?), change: String) throws {
        let section = section(style.style, style.paging)
        let token = try #require(scan(section).last?.token)
        try set(change)
        let second = try scan(section, token: token)
        let count = change.hasPrefix("users=") ? Int(change.dropFirst(6)) : 25
        #expect(second.ids == Array(1...(count ?? 0)))
        #expect(second.records.contains { $0.contains("Ann") } == (change == "name=Ann"))
        #expect(second.last?.isUnchanged == false)
        #expect(second.last?.isComplete == true)
        let third = try scan(section, token: #require(second.last?.token))
        #expect(third.last?.isUnchanged == true)
    }

    @Test(arguments: styles, [10, 20])
    func `a page that was added shows though no page's validator moved`(
        style: (style: String, paging: Literal?), count: Int
    ) throws {
        let section = section(style.style, style.paging)
        try set("users=\(count)")
        let first = try scan(section)
        #expect(first.ids == Array(1...count))
        let token = try #require(first.last?.token)
        #expect(try scan(section, token: token).last?.isUnchanged == true)
        try set("users=\(count + 1)")
        #expect(try scan(section, token: token).ids == Array(1...count + 1))
    }

    @Test func `a listing that is declared without pages is requested once`() throws {
        try set("users=10")
        let section = section("page", "none")
        let token = try #require(scan(section).last?.token)
        let count = try requests().count
        #expect(try scan(section, token: token).last?.isUnchanged == true)
        #expect(try requests(after: count) == [true])
    }

    @Test func `a first page that moved is not asked for twice`() throws {
        try set("users=8")
        let token = try #require(scan(section("link", nil)).last?.token)
        try set("users=9")
        let count = try requests().count
        #expect(try scan(section("link", nil), token: token).ids == Array(1...9))
        #expect(try requests(after: count) == [true])
    }

    @Test(arguments: [401, 404, 405, 500, 501, 503])
    func `a server that fails at HEAD is asked for the page`(status: Int) throws {
        try set("users=8")
        let token = try #require(scan(section("link", nil)).last?.token)
        try set("users=8", "head=\(status)")
        let second = try scan(section("link", nil), token: token)
        #expect(second.ids == Array(1...8))
        #expect(second.last?.isComplete == true && second.last?.isUnchanged == false)
    }

    @Test func `a server that asks for a pause at HEAD has not said that anything moved`() throws {
        try set("users=8")
        let token = try #require(scan(section("link", nil)).last?.token)
        try set("users=8", "head=503", "pause=1")
        #expect(try bridgeError { _ = try scan(section("link", nil), token: token) }.isRetryable)
    }

    @Test func `an empty ETag does not validate anything`() throws {
        try set("users=8", "etag=none")
        let scan = try scan(section("link", nil))
        #expect(scan.ids == Array(1...8) && scan.last?.token == nil)
    }

    @Test(arguments: 1...2)
    func `a page without validators leaves no token`(page: Int) throws {
        try set("unmarked=\(page)")
        let scan = try scan(section("link", nil))
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.token == nil)
    }

    @Test func `what was modified within the second of its reply may move again within it`() throws {
        let scan = try scan(["path": "just-changed"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.token == nil)
        #expect(try self.scan(["path": "dated"]).last?.token != nil)
    }

    @Test func `the last page needs no validators`() throws {
        try set("unmarked=3")
        let token = try #require(scan(section("link", nil)).last?.token)
        #expect(try scan(section("link", nil), token: token).last?.isUnchanged == true)
    }

    @Test(arguments: 1...3)
    func `a busy server has not said that anything moved`(page: Int) throws {
        let section = section("next", nil)
        let token = try #require(scan(section).last?.token)
        try set("busy=\(page)")
        let source = try source(section, token)
        let busy = try bridgeError { _ = try Scan(source) }
        #expect(busy.isRetryable)
        #expect(busy.message.hasPrefix("page \(page) of User"))
        let again = try Scan(source)
        #expect(again.records.isEmpty)
        #expect(again.last?.isUnchanged == true)
    }

    @Test func `marks belong to one request, and conditional false asks for none`() throws {
        let token = try #require(scan(section("link", nil)).last?.token)
        let other: Literal = ["path": "marked", "query": ["of": "k", "style": "next"]]
        #expect(try scan(other, token: token).ids == Array(1...25))
        let without: Literal = ["path": "marked", "query": ["of": "k", "style": "link"], "conditional": false]
        let scan = try scan(without, token: token)
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.token == nil)
    }

    @Test(arguments: [
        "", "{", "[]", "{\"listing\":1}", "{\"listing\":{\"url\":\"x\",\"pages\":[]}}",
        "{\"listing\":{\"url\":\"URL\",\"pages\":[{\"at\":\"only:\"},{\"at\":\"nowhere\"}],\"last\":\"\"}}",
        "{\"listing\":{\"url\":\"URL\",\"pages\":[{\"at\":\"only:\",\"etag\":\"1\"},{\"at\":\"nowhere\"}],\"last\":\"\"}}",
        "{\"url\":\"URL\",\"etag\":\"1\"}",
    ])
    func `a token of another version is ignored`(token: String) throws {
        let url = "\(server.url)/zoo/marked?of=k&style=link"
        #expect(try scan(section("link", nil), token: token.replacing("URL", with: url)).ids == Array(1...25))
    }
}
