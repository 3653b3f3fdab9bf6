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
}
