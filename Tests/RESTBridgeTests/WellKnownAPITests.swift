import BridgeKit
import BridgePaging
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// APIs as their documentation shows them: a path is enough to scan them, and a sample to describe them.
@Suite struct WellKnownAPITests {
    let server: RemoteServer

    private static let shared = Result { try RemoteServer.fixture("apis.py") }

    init() throws { server = try Self.shared.get() }

    private func scanned(_ section: Literal, _ options: Literal.Members = [], cursor: String? = nil) throws -> Scan {
        let bridge = try RESTBridgeTests.bridge(.object([("url", .text(server.url))] + options))
        return try Scan(source(bridge, section, cursor: cursor))
    }

    @Test(arguments: [
        ("/repos/octo/hello/issues", "{style: link_header}"),
        ("/v1/customers", "{style: keyset, field: id, parameter: starting_after, has_more: $.has_more}"),
        ("/v1/users", "{style: cursor, path: $.next_cursor, parameter: start_cursor, has_more: $.has_more}"),
        ("/admin/api/2024-01/products.json", "{style: link_header}"),
        ("/v0/appHf/Tasks", "{style: cursor, path: $.offset, parameter: offset}"),
        ("/crm/v3/objects/contacts", "{style: next_url, path: $.paging.next.link}"),
        ("/api/v1/timelines/public", "{style: link_header}"),
        ("/wp-json/wp/v2/posts", "{style: link_header}"),
        ("/rest/api/2/search", "{style: offset, offset_parameter: startAt, start: 0, total: $.total}"),
        ("/rest/api/3/search/jql", "{style: cursor, path: $.nextPageToken, parameter: nextPageToken}"),
        ("/api/v2/tickets", "{style: next_url, path: $.links.next, has_more: $.meta.has_more}"),
        ("/api/people", "{style: next_url, path: $._links.next.href}"),
        ("/api/books", "{style: page, page_parameter: page, start: 0, pages: $.totalPages}"),
        ("/youtube/v3/search?key=x", "{style: cursor, path: $.nextPageToken, parameter: pageToken}"),
        ("/w/api.php?action=query&format=json", "{style: continue, path: $.continue}"),
        (
            "/arcgis/rest/services/Cities/FeatureServer/0/query",
            "{style: offset, offset_parameter: resultOffset, has_more: $.exceededTransferLimit}"
        ),
        ("/books/_search", "{style: offset, offset_parameter: from, total: $.hits.total.value}"),
        ("/fhir/Patient", "{style: next_url, path: $.link[?@.relation=='next'].url}"),
        ("/V4/Products", "{style: next_url, path: $['@odata.nextLink']}"),
        ("/jsonapi/articles", "{style: next_url, path: $.links.next.href}"),
        ("/v1/me/playlists", "{style: next_url, path: $.next}"),
        ("/r/swift/new.json", "{style: cursor, path: $.data.after, parameter: after}"),
        ("/helix/streams", "{style: cursor, path: $.pagination.cursor, parameter: after}"),
        ("/v2/customers", "{style: cursor, path: $.cursor, parameter: cursor}"),
        ("/spaces/x/entries", "{style: offset, offset_parameter: skip, start: 0, total: $.total}"),
        ("/1/indexes/books", "{style: page, page_parameter: page, start: 0, pages: $.nbPages}"),
        ("/api/1.0/tasks", "{style: next_url, path: $.next_page.uri}"),
        ("/contacts", "{style: cursor, path: $.pages.next.starting_after, parameter: starting_after}"),
        ("/2.3/questions", "{style: page, page_parameter: page, start: 1, has_more: $.has_more}"),
        ("/api/0/projects", "{style: link_header}"),
        ("/2/tweets/search/recent", "{style: cursor, path: $.meta.next_token, parameter: next_token}"),
    ])
    func `a path is enough, and what a sample shows is what a scan finds`(path: String, paging: String) throws {
        let scan = try scanned(["path": .text(path)])
        #expect(Set(scan.records).count == 25)
        #expect(scan.last?.isComplete == true)
        #expect(scan.pages.first?.metadata["paging"] == paging)
        // Told once; what the second page had to prove, then.
        let found = scan.pages.prefix(2).compactMap { $0.metadata["found"] }
        #expect(found.count == 1 && found.first?.hasSuffix("paging: \(paging)") == true)
        #expect(scan.pages.dropFirst(2).nonEmptyAllSatisfy { $0.metadata["found"] == nil })
        let cursor = try #require(scan.pages[1].cursor)
        #expect(cursor.hasPrefix("p3 "))
        #expect(try scanned(["path": .text(path)], cursor: cursor).records == Array(scan.records.suffix(5)))

        let offers = try sample([path])
        #expect(offers[1].contains("left to auto, which finds \(paging)"), "\(offers[1])")
        #expect(!offers[1].contains(#""paging":{"style""#))
        #expect(!offers[1].contains("obstacle"), "\(offers[1])")
    }

    /// What `discover` offers: the options first, then an entity per sample.
    private func sample(_ paths: [String]) throws -> [String] {
        let urls = paths.map { Literal.text(server.url + $0) }
        let bridge = try RESTBridgeTests.bridge(["url": .text(server.url), "introspect": ["samples": .array(urls)]])
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        return (0..<batch.count).map { batch[$0].json }
    }

    @Test func `the list of a forum's topics is named, and goes on without its users`() throws {
        let error = try bridgeError { _ = try scanned(["path": "/latest.json"]) }
        #expect(error.remedy?.contains("$.topic_list.topics") == true)
        let scan = try scanned(["path": "/latest.json", "records": "$.topic_list.topics"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(try sample(["/latest.json"])[1].contains(#""records":"$.topic_list.topics""#))
    }

    @Test func `objects by their keys, features and lines are seen in a sample and in a scan`() throws {
        #expect(try scanned(["path": "/rooms.json"]).records.first == #"{"@key":"-N001","name":"Room 1","seats":1}"#)
        let rooms = try sample(["/rooms.json"])[1]
        #expect(rooms.contains(#""records":"$.*""#))
        #expect(rooms.contains(#"{"name":"@key","type":"text","key":true,"as":"key""#))
        let quakes = try sample(["/fdsnws/event/1/query"])[1]
        #expect(quakes.contains("GeoJSON"))
        #expect(quakes.contains(#"{"name":"properties.mag","type":"real","key":false,"as":"mag""#), "\(quakes)")
        #expect(quakes.contains("the reply has as many records as it counts"))
        #expect(try sample(["/nd/plain"])[1].contains(#""preset":"ndjson""#))
        #expect(!(try sample(["/nd/logs"])[1].contains("preset")))
        #expect(try scanned(["path": "/nd/logs"]).ids == Array(1...25))
        let article = try sample(["/jsonapi/articles"])[1]
        #expect(article.contains(#""preset":"json_api""#))
        #expect(article.contains(#"{"name":"title","type":"text""#), "\(article)")
        #expect(try sample(["/api/people"])[1].contains(#""preset":"hal","records":"$._embedded.people""#))
        #expect(try sample(["/V4/Products"])[1].contains(#""section":{"path":"/Products","preset":"odata"}"#))
    }

    @Test func `a key in a sample's URL is taken from the environment, and written nowhere`() throws {
        let offers = try sample(["/youtube/v3/search?key=s3cr3t-key&part=snippet"])
        #expect(!offers.joined().contains("s3cr3t"))
        #expect(offers[0].contains(#""auth":{"type":"api_key","value":{"env":"KEY"},"query":"key"}"#), "\(offers[0])")
        #expect(offers[0].contains("put its value into the environment variable KEY"))
        #expect(offers[1].contains(#""query":{"part":"snippet"}"#))
    }

    @Test func `the parameter that says where the sample's page begins is not part of the listing's query`() throws {
        let issues = try sample(["/repos/octo/hello/issues?page=2&per_page=5"])[1]
        #expect(issues.contains(#""query":{"per_page":"5"}"#))
        #expect(issues.contains("left out of the query: page=2"))
        let books = try sample(["/api/books?page=1"])[1]
        #expect(
            books.contains(#""paging":{"style":"page","page_parameter":"page","start":1,"pages":"$.totalPages"}"#)
                || books.contains(
                    #""paging":{"style":"page","page_parameter":"page","start":0,"pages":"$.totalPages"}"#),
            "\(books)")
    }

    @Test func `GraphQL without a query is refused with what it needs`() throws {
        let error = try bridgeError { _ = try sample(["/graphql"]) }
        #expect(error.remedy?.contains("write graphql: {query: ...}") == true)
    }

    @Test func `AWS takes the signature of each page's request`() throws {
        func auth(_ secret: Literal) -> Literal.Members {
            [
                (
                    "auth",
                    [
                        "type": "aws_sigv4", "key_id": "AKIDEXAMPLE", "secret": secret, "region": "eu-west-1",
                        "service": "ec2",
                    ]
                )
            ]
        }
        let section: Literal = ["path": "/aws/instances", "query": ["Version": "2016 11/15", "Action": "List*"]]
        #expect(try scanned(section, auth("s3cret+key/x")).ids == Array(1...25))
        let error = try bridgeError { _ = try scanned(section, auth("s3cret+other")) }
        #expect(error.code == .permission)
        #expect(error.remote?.contains("does not match") == true)
        #expect(!error.description.contains("s3cret"))
    }

    @Test(arguments: [
        #"<NEXT>; rel="next""#, "<NEXT>;rel=next", #"<NEXT>; title="a, b; c=\"d\""; rel="last next""#,
        #"<a,b>; rel="prev"; title="x", <NEXT>; title*=UTF-8''n%2c; rel=nExt; type="text/html""#,
        #"<other>; rel="next"; anchor="/elsewhere", <NEXT>; rel="next"; rel="prev""#,
        #" , ,<NEXT>  ;  rel  =  "next" ;;x"#, "<NEXT>; rel='next'", #"<x>; rel='prev first', < NEXT >; rel="next""#,
        #"<x>; rel="self" x, <NEXT>; rel="next""#, #"U/self; rel=self, <NEXT>; rel="next""#,
        #"<x>; rel="self"; title=1 of 2, <NEXT>; rel="next""#, #"<x>: rel="first", <NEXT>; rel="next""#,
    ])
    func `a Link header is read by RFC 8288`(link: String) throws {
        let scan = try scanned(["path": "/linked", "query": ["link": .text(link)], "paging": ["style": "link_header"]])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test(arguments: [
        #"NEXT; rel="next""#, #"<NEXT; rel="next""#, "<NEXT>; rel:next", #"<NEXT?a>b>; rel="next""#,
        #"<x>; rel="self, <NEXT>; rel="next""#, #"<x>; title="x", NEXT; rel="next""#, #"&lt;NEXT&gt;; rel="next""#,
        "<NEXT>; rel*=UTF-8''next",
    ])
    func `a Link header that cannot be read may name a next page`(link: String) throws {
        let pagings: [Literal] = [["style": "link_header"], "auto", "none"]
        for paging in pagings {
            let scan = try scanned(["path": "/linked", "query": ["link": .text(link)], "paging": paging])
            #expect(scan.ids == Array(1...10))
            #expect(scan.last?.isComplete == false && scan.last?.token == nil, "\(paging): \(scan)")
            #expect(scan.warnings.count == 1 && scan.warnings[0].contains("header Link"), "\(paging): \(scan)")
        }
    }

    @Test(arguments: [
        #"<x>; rel="prev"; title=Page 1"#, #"<x>; rel="prev", null"#, "null", "none", #"<x> rel="first""#,
        "<x>; rel=preload; as=style crossorigin", "<x>; rel=prev; title*=UTF-8''x y", #"<x> type="text/html""#,
        "<x>; title=the next one; rel=prev", "<x?next=1>; rel=prev; title=go to the next",
    ])
    func `a Link header that cannot be read and does not have the word next ends a listing`(link: String) throws {
        let section: Literal = ["path": "/linked", "query": ["link": .text(link)], "paging": ["style": "link_header"]]
        let scan = try scanned(section)
        #expect(scan.ids == Array(1...10))
        #expect(scan.last?.isComplete == true, "\(scan)")
    }

    @Test func `a Link header is read in linear time`() {
        let began = ContinuousClock.now
        for text in [",<", "<", "<a>;", #";""#, "<a>;rel=", "<a", ",<a>x", #"<a>;b='"#] {
            #expect(LinkHeader.next([String(repeating: text, count: 60_000 / text.count)]) == nil)
        }
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    @Test func `206 is a page like any other, and an unrequested 304 is not`() throws {
        let scan = try scanned(["path": "/partial"])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        let error = try bridgeError { _ = try scanned(["path": "/says?status=304"]) }
        #expect(error.message == "page 1 of User: the server answers 304")
    }

    @Test func `a resumed scan names the failed page by its number in the whole scan`() throws {
        let section: Literal = ["path": "/says?status=500", "paging": ["style": "page"]]
        let error = try bridgeError { _ = try scanned(section, cursor: "p7 page:7") }
        #expect(error.message == "page 7 of User: the server answers 500 Internal Server Error")
        // A cursor of an earlier version has no number.
        let old = try bridgeError { _ = try scanned(section, cursor: "page:7") }
        #expect(old.message == "page 1 of User: the server answers 500 Internal Server Error")
        #expect(try bridgeError { _ = try scanned(section, cursor: "p7 offset:7") }.code == .configuration)
    }

    @Test func `a head that is too large is explained`() throws {
        for size in ["150000", "90000"] {
            let path = "/says?cookies=\(size)"
            guard size == "150000" else {
                #expect(try scanned(["path": .text(path)]).records.isEmpty)
                continue
            }
            let error = try bridgeError { _ = try scanned(["path": .text(path)]) }
            #expect(error.code == .limit)
            #expect(error.message == "a header field of the reply is over 100 KiB")
        }
    }
}
