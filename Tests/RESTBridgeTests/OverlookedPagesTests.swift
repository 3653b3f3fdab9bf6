import BridgeHTTP
import BridgeJSON
import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import RESTBridge

/// First pages whose signs of further ones stand in places of their own.
@Suite struct OverlookedPagesTests {
    let bridge: RESTBridge

    init() throws {
        bridge = try RESTBridgeTests.bridge(["url": .text(try RemoteServer.shared.get().url)])
    }

    /// A scan over pages that the zoo serves as they are written here.
    private func told(by parameter: String = "x", _ pages: String, _ more: Literal.Members = []) throws -> Scan {
        let query: Literal = ["by": .text(parameter), "of": .text(pages)]
        return try Scan(source(bridge, .object([("path", "/zoo/told"), ("query", query)] + more)))
    }

    /// A scan of one reply.
    private func once(_ reply: String, _ more: Literal.Members = []) throws -> Scan {
        try told("{\"\": \(reply)}", more)
    }

    // MARK: Depth

    @Test(arguments: [
        ("$.data.viewer.repos.nodes", #"{"data":{"viewer":{"repos":LIST}}}"#, false),
        ("$.data.viewer.repos.nodes", #"{"data":{"viewer":{"repos":LIST}}}"#, true),
        ("$.a.b.c.d.e.f.nodes", #"{"a":{"b":{"c":{"d":{"e":{"f":LIST}}}}}}"#, true),
    ])
    func `the page info of a connection is found however deep the list is`(
        records: String, frame: String, isGiven: Bool
    ) throws {
        func page(_ id: Int, _ hasNext: Bool) -> String {
            let list = #"{"nodes":[{"id":\#(id)}],"pageInfo":{"hasNextPage":\#(hasNext),"endCursor":"\#(id)"}}"#
            return frame.replacing("LIST", with: list)
        }
        let more: Literal.Members = isGiven ? [("records", .text(records))] : []
        let scan = try told(by: "after", #"{"": \#(page(1, true)), "1": \#(page(2, false))}"#, more)
        #expect(scan.ids == [1, 2] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
        let single = try once(page(1, true), [("records", .text(records)), ("paging", "none")])
        #expect(single.last?.isComplete == false && single.warnings.count == 1, "\(single)")
    }

    @Test func `the page info beside the records comes before that of another connection`() throws {
        func page(_ id: Int, _ hasNext: Bool) -> String {
            #"""
            {"data": {"viewer": {"gists": {"nodes": [], "pageInfo": {"hasNextPage": false, "endCursor": "9"}},
             "repos": {"nodes": [{"id": \#(id)}], "pageInfo": {"hasNextPage": \#(hasNext), "endCursor": "\#(id)"}}}}}
            """#
        }
        let scan = try told(
            by: "after", #"{"": \#(page(1, true)), "1": \#(page(2, false))}"#,
            [("records", "$.data.viewer.repos.nodes")])
        #expect(scan.ids == [1, 2] && scan.last?.isComplete == true, "\(scan)")
    }

    @Test func `the listing's own connection is none inside the records`() throws {
        let records = try JSONPath("$.data.viewer.repos.nodes", option: "records")
        let inner = #"{"id":1,"issues":{"pageInfo":{"hasNextPage":true}}}"#
        let body = HTTPExchange.PaddedBody(
            #"{"data":{"viewer":{"repos":{"nodes":[\#(inner)],"pageInfo":{"hasNextPage":true}}}}}"#.utf8)
        #expect(GraphQLConnections.unfinished(in: body) == 2)
        #expect(GraphQLConnections.unfinished(in: body, beside: records) == 1)
    }

    @Test(arguments: ["nodes[*].members.nodes", "edges[*].node.members.edges[*].node"])
    func `connections around the records that have more make a listing incomplete`(path: String) throws {
        for (hasNext, isComplete) in [(true, false), (false, true)] {
            func list(_ object: String, _ hasNext: Bool) -> String {
                let list = path.hasPrefix("edges") ? #""edges":[{"node":\#(object)}]"# : #""nodes":[\#(object)]"#
                return #"{\#(list),"pageInfo":{"hasNextPage":\#(hasNext),"endCursor":"x"}}"#
            }
            let reply = #"{"data":{"teams":\#(list(#"{"members":\#(list(#"{"id":1}"#, hasNext))}"#, false))}}"#
            let scan = try once(
                reply,
                [
                    ("records", .text("$.data.teams.\(path)")),
                    ("graphql", ["query": "query($after: String) { teams(after: $after) { nodes { id } } }"]),
                ])
            #expect(scan.ids == [1] && scan.last?.isComplete == isComplete, "\(scan)")
            #expect(scan.warnings.count == (isComplete ? 0 : 1), "\(scan)")
        }
    }

    @Test(arguments: [(false, true), (true, false)])
    func `a connection inside a record is none around the records`(hasNext: Bool, isComplete: Bool) throws {
        func list(_ object: String, _ hasNext: Bool) -> String {
            #"{"nodes":[\#(object)],"pageInfo":{"hasNextPage":\#(hasNext),"endCursor":"x"}}"#
        }
        let issues = list(#"{"id":1,"labels":\#(list("{}", true))}"#, hasNext)
        let reply = #"{"data":{"repos":\#(list(#"{"issues":\#(issues)}"#, false))}}"#
        let scan = try once(
            reply,
            [
                ("records", "$.data.repos.nodes[*].issues.nodes"),
                ("graphql", ["query": "query($after: String) { repos(after: $after) { nodes { id } } }"]),
            ])
        #expect(scan.ids == [1] && scan.last?.isComplete == isComplete, "\(scan)")
        let place = isComplete ? "connections inside the records have more" : "connections around the records have more"
        #expect(scan.warnings.count == 1 && scan.warnings.first?.contains(place) == true, "\(scan)")
    }

    @Test func `connections in an object of records are inside the records`() throws {
        let records = try JSONPath("$.data.users.*", option: "records")
        let body = HTTPExchange.PaddedBody(
            #"{"data":{"users":{"a":{"hasNextPage":true}},"x":{"hasNextPage":true}}}"#.utf8)
        #expect(GraphQLConnections.unfinished(in: body, beside: records) == 1)
    }

    // MARK: Searches That Ended Early

    @Test(arguments: [
        #""total_count": 1, "incomplete_results": true"#, #""incompleteSearch": true"#, #""partial": "true""#,
        #""responseHeader": {"status": 0, "partialResults": true}"#, #""timedOut": true"#,
    ])
    func `a search that ended early is not complete`(member: String) throws {
        for list in [#"[{"id": 1}]"#, "[]"] {
            let reply = #"{\#(member), "items": \#(list)}"#
            for paging: Literal in ["auto", "none"] {
                let scan = try once(reply, [("paging", paging), ("records", "$.items")])
                #expect(scan.last?.isComplete == false, "\(scan)")
                #expect(scan.warnings.contains { $0.contains("a sign of failure beside its records") }, "\(scan)")
            }
        }
    }

    @Test(arguments: [
        #""total_count": 1, "incomplete_results": false"#, #""incompleteSearch": false"#, #""partial": "none""#,
        #""incomplete": 3"#, #""responseHeader": {"status": 0}"#,
    ])
    func `a search that did not end early is complete`(member: String) throws {
        let scan = try once(#"{\#(member), "items": [{"id": 1}]}"#)
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    // MARK: Totals beside Other Paging

    /// Listings of two pages with a record each, of which the remote shows no more.
    private static let capped: [(by: String, first: String, second: String, place: String)] = [
        (
            "page", #""page": 0, "nbPages": 2, "hitsPerPage": 1, "nbHits": TOTAL"#,
            #""page": 1, "nbPages": 2, "hitsPerPage": 1, "nbHits": TOTAL"#, "$.nbHits"
        ),
        ("after", #""next": "NEXT", "total_count": TOTAL"#, #""next": null, "total_count": TOTAL"#, "$.total_count"),
        (
            "after", #""next": "NEXT", "limit": 1, "offset": 0, "total": TOTAL"#,
            #""next": null, "limit": 1, "offset": 1, "total": TOTAL"#, "$.total"
        ),
        // The page that ends the listing takes the total back.
        (
            "after", #""@odata.nextLink": "NEXT", "@odata.count": TOTAL"#, #""@odata.count": 0"#,
            "$['@odata.count']"
        ),
    ]

    @Test(arguments: capped)
    func `a listing that ends before a total of a clear name is not complete`(
        by: String, first: String, second: String, place: String
    ) throws {
        func scan(_ total: Int, _ more: Literal.Members = []) throws -> Scan {
            let server = try RemoteServer.shared.get()
            func page(_ id: Int, _ words: String) -> String {
                #"{"items": [{"id": \#(id)}], \#(words.replacing("TOTAL", with: "\(total)"))}"#
            }
            let later = page(2, second)
            let link = "\(server.url)/zoo/told?by=x&of=" + encode("{\"\": \(later)}")
            let pages = #"{"": \#(page(1, first.replacing("NEXT", with: link))), "1": \#(later)}"#
            return try told(by: by, pages, more)
        }
        let capped = try scan(9)
        #expect(capped.ids == [1, 2] && capped.last?.isComplete == false, "\(capped)")
        #expect(capped.warnings.count == 1, "\(capped)")
        #expect(
            capped.warnings.first?.hasPrefix("the reply says 9 records (\(place)), but its pages held 2") == true,
            "\(capped)")
        let whole = try scan(2)
        #expect(whole.ids == [1, 2] && whole.last?.isComplete == true && whole.warnings.isEmpty, "\(whole)")
        let less = try scan(1)
        #expect(less.ids == [1, 2] && less.last?.isComplete == true && less.warnings.isEmpty, "\(less)")
    }

    private func encode(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    @Test(arguments: [
        #""next": null, "total": 99"#, #""next": null, "count": 99"#, #""next": null, "cart": {"total_count": 99}"#,
        #""nextPageToken": null, "pageInfo": {"totalResults": 1000000, "resultsPerPage": 1}"#,
    ])
    func `a number that may count something else does not show that a listing lacks records`(words: String) throws {
        let scan = try once(#"{"items": [{"id": 1}], \#(words)}"#)
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `a paging that the section names does not look for a total`() throws {
        let scan = try once(
            #"{"items": [{"id": 1}], "next": null, "total_count": 99}"#,
            [("paging", ["style": "next_url", "path": "$.next"]), ("records", "$.items")])
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `have_more_results promises more, and found counts all records`() throws {
        let steam = try once(#"{"response": {"apps": [{"id": 1}], "have_more_results": true, "last_appid": 1}}"#)
        #expect(steam.ids == [1] && steam.last?.isComplete == false && steam.warnings.count == 1, "\(steam)")
        func page(_ id: Int) -> String {
            #"{"found": 2, "hits": [{"id": \#(id)}], "out_of": 9, "page": \#(id), "request_params": {"per_page": 1}}"#
        }
        let typesense = try told(by: "page", #"{"": \#(page(1)), "2": \#(page(2))}"#)
        #expect(typesense.ids == [1, 2] && typesense.last?.isComplete == true, "\(typesense)")
    }

    @Test func `a total that is a lower bound does not end the listing`() throws {
        func page(_ ids: [Int], _ relation: String) -> String {
            let hits = ids.map { #"{"id": \#($0)}"# }.joined(separator: ",")
            return #"{"hits": {"total": {"value": 2, "relation": "\#(relation)"}, "hits": [\#(hits)]}}"#
        }
        let paging: Literal = [
            "style": "offset", "offset_parameter": "from", "limit_parameter": "size", "size": 2,
            "total": "$.hits.total.value",
        ]
        // A full first page with as many records as the total is confirmed by the next one.
        for (relation, rest) in [("gte", [3]), ("eq", [])] {
            let scan = try told(
                by: "from", #"{"0": \#(page([1, 2], relation)), "2": \#(page(rest, relation))}"#,
                [("records", "$.hits.hits"), ("paging", paging)])
            #expect(scan.ids == [1, 2] + rest && scan.last?.isComplete == true, "\(scan)")
        }
    }

    // MARK: Numbers That Are Taken Back

    @Test(arguments: [
        (#""number": 0, "totalPages": 3, "totalElements": 3"#, #""number": 1, "totalPages": 0, "totalElements": 0"#),
        (#""page": 0, "size": 1, "total": 3"#, #""page": 1, "size": 1, "total": 0"#),
    ])
    func `an empty page that takes back the numbers of the first one does not end the listing`(
        first: String, second: String
    ) throws {
        let scan = try told(
            by: "page",
            #"{"": {"content": [{"id": 1}], \#(first)}, "1": {"content": [], \#(second)}}"#)
        #expect(scan.ids == [1] && scan.last?.isComplete == false && scan.warnings.count == 1, "\(scan)")
    }

    // MARK: Other Spellings and Places

    @Test(arguments: [
        #"{"Items": LIST, "TotalCount": 9}"#, #"{"Data": LIST, "Page": 1, "PageSize": 1, "TotalRecords": 9}"#,
        #"{"Data": LIST, "Total": 9}"#, #"{"message": {"total-results": 9, "items": LIST, "items-per-page": 1}}"#,
        #"{"items": LIST, "rowCount": 9}"#, #"{"items": LIST, "num_results": "9"}"#,
        #"{"response": {"header": {"totalCount": 9}, "body": {"items": LIST}}}"#,
        #"{"items": LIST, "pager": {"total": 9}}"#, #"{"items": LIST, "endOfRecords": false}"#,
        #"{"items": LIST, "results_remaining": 8}"#, #"{"items": LIST, "$skipToken": "x"}"#,
        #"{"items": LIST, "nextRecordKey": "x"}"#,
    ])
    func `totals and flags are known in other spellings and places`(reply: String) throws {
        let scan = try once(reply.replacing("LIST", with: #"[{"id": 1}]"#))
        #expect(scan.ids == [1] && scan.last?.isComplete == false && scan.warnings.count == 1, "\(scan)")
    }

    @Test(arguments: [
        #"{"Items": LIST, "TotalCount": 1}"#, #"{"Items": LIST, "TotalAmount": 99, "ItemCount": 7}"#,
        #"{"items": LIST, "resultCount": 1, "endOfRecords": true, "results_remaining": 0}"#,
        #"{"items": LIST, "estimatedCount": 99, "stats": {"totalCount": 99}}"#,
    ])
    func `names that only resemble totals and flags are none`(reply: String) throws {
        let scan = try once(reply.replacing("LIST", with: #"[{"id": 1}]"#))
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `resultCount may only count the records of a page`() throws {
        let list = (1...50).map { #"{"id": \#($0)}"# }.joined(separator: ",")
        let scan = try once(#"{"resultCount": 50, "results": [\#(list)]}"#)
        #expect(scan.records.count == 50 && scan.last?.isComplete == false, "\(scan.warnings)")
    }

    @Test func `the paging in Last.fm's attributes is followed`() throws {
        func page(_ id: Int) -> String {
            let words = #""@attr": {"page": "\#(id)", "perPage": "1", "totalPages": "2", "total": "2"}"#
            return #"{"recenttracks": {"track": [{"id": \#(id)}], \#(words)}}"#
        }
        let scan = try told(by: "page", #"{"": \#(page(1)), "2": \#(page(2))}"#)
        #expect(scan.ids == [1, 2] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    // MARK: The Object before the List

    @Test func `the object before the list in a root array is looked at`() throws {
        func page(_ id: Int, _ words: String) -> String { #"[{\#(words)}, [{"id": \#(id)}]]"# }
        let list: Literal.Members = [("records", "$[1]")]
        func numbered(_ number: Int) -> String {
            page(number, #""page": \#(number), "pages": 2, "per_page": "1", "total": TOTAL"#)
        }
        for (total, isComplete) in [("2", true), ("9", false)] {
            let pages = #"{"": \#(numbered(1)), "2": \#(numbered(2))}"#.replacing("TOTAL", with: total)
            let scan = try told(by: "page", pages, list)
            #expect(scan.ids == [1, 2] && scan.last?.isComplete == isComplete, "\(scan)")
            #expect(scan.warnings.contains { $0.contains("9 records ($[0].total)") } != isComplete, "\(scan)")
        }
        let cursors =
            #"{"": \#(page(1, #""next_cursor": "a""#)), "a": \#(page(2, #""next_cursor": null"#))}"#
        let followed = try told(by: "cursor", cursors, list)
        #expect(followed.ids == [1, 2] && followed.last?.isComplete == true, "\(followed)")
        for paging: Literal in ["auto", "none"] {
            let total = try once(page(1, #""count": 1, "total_count": 9"#), list + [("paging", paging)])
            #expect(total.ids == [1] && total.last?.isComplete == false && total.warnings.count == 1, "\(total)")
        }
        let plain = try once(page(1, #""name": "x""#), list)
        #expect(plain.ids == [1] && plain.last?.isComplete == true && plain.warnings.isEmpty, "\(plain)")
    }
}
