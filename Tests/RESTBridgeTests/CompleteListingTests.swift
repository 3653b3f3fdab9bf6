import BridgeKit
import TestSupport
import Testing

@testable import RESTBridge

/// Complete listings whose replies have something that resembles a sign of more records.
@Suite struct CompleteListingTests {
    let bridge: RESTBridge

    init() throws {
        bridge = try RESTBridgeTests.bridge(["url": .text(try RemoteServer.shared.get().url)])
    }

    /// A scan of one reply, which the zoo serves as it is written here.
    private func once(_ reply: String, _ more: Literal.Members = []) throws -> Scan {
        let query: Literal = ["by": "x", "of": .text("{\"\": \(reply)}")]
        return try Scan(source(bridge, .object([("path", "/zoo/told"), ("query", query)] + more)))
    }

    @Test(arguments: [
        #"{"count": 0, "message": "database is down"}"#, #"{"total": 0, "state": "pending"}"#, #"{"count": 0}"#,
    ])
    func `a number that may be of something else does not make an object an empty listing`(reply: String) throws {
        let section: Literal = ["path": "/zoo/told", "query": ["by": "x", "of": .text("{\"\": \(reply)}")]]
        let scan = try Scan(
            bridge.fetch(FetchRequest(entity: "User", section: section.options, fields: ["id", "name"])))
        #expect(scan.records.count == 1, "\(scan)")
    }

    // MARK: Totals of Something Else

    @Test(arguments: [
        #""recordsTotal": 99, "recordsFiltered": COUNT"#, #""iTotalRecords": "99", "iTotalDisplayRecords": "COUNT""#,
        #""RecordsTotal": 99, "RecordsFiltered": COUNT"#,
    ])
    func `the total without the filter of the request does not have to be reached`(words: String) throws {
        for (count, isComplete) in [("1", true), ("9", false)] {
            let scan = try once(#"{"draw": 1, \#(words.replacing("COUNT", with: count)), "data": [{"id": 1}]}"#)
            #expect(scan.ids == [1] && scan.last?.isComplete == isComplete, "\(scan)")
            #expect(scan.warnings.count == (isComplete ? 0 : 1), "\(scan)")
        }
    }

    @Test(arguments: [
        // Spotify's search.
        (
            "$.tracks.items",
            #"""
            {"tracks": {"items": LIST, "limit": 20, "next": null, "offset": 0, "total": 1},
             "artists": {"items": [], "limit": 20, "next": null, "offset": 0, "total": 99}}
            """#
        ),
        ("$.items", #"{"items": LIST, "next": null, "data": {"rows": [], "total_count": 99}}"#),
        ("$.items", #"{"items": LIST, "next": null, "hits": {"hits": [], "total_count": 99}}"#),
        ("$.list.items", #"{"total_count": 99, "list": {"items": LIST, "next": null, "total_count": 1}}"#),
        // Confluence's search, which also counts what the user may not see.
        (
            "$.results",
            #"{"results": LIST, "totalSize": 99, "_links": {"base": "https://x.example/wiki", "next": null}}"#
        ),
    ])
    func `a total of another list does not have to be reached`(records: String, reply: String) throws {
        let scan = try once(reply.replacing("LIST", with: #"[{"id": 1}]"#), [("records", .text(records))])
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        ("$.items", #"{"items": LIST, "next": null, "meta": {"pagination": {"total_count": 9}}}"#),
        ("$.list.items", #"{"total_count": 9, "list": {"items": LIST, "next": null}}"#),
        ("$.list.items", #"{"list": {"items": LIST, "next": null, "pager": {"total_count": 9}}}"#),
        ("$.records", #"{"records": LIST, "totalSize": 9, "next": null}"#),
    ])
    func `a total around the list, or in an object that describes it, has to be reached`(
        records: String, reply: String
    ) throws {
        let scan = try once(reply.replacing("LIST", with: #"[{"id": 1}]"#), [("records", .text(records))])
        #expect(scan.ids == [1] && scan.last?.isComplete == false && scan.warnings.count == 1, "\(scan)")
    }

    @Test func `offsets do not end by a total that counts what the user may not see`() throws {
        func page(_ list: String) -> String {
            #"{"results": [\#(list)], "start": 0, "limit": 2, "size": 1, "totalSize": 9, "_links": {"self": "/x"}}"#
        }
        let query: Literal = ["by": "start", "of": .text(#"{"": \#(page(#"{"id": 1}"#)), "1": \#(page(""))}"#)]
        let scan = try Scan(source(bridge, ["path": "/zoo/told", "query": query]))
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    // MARK: Signs of Failure

    @Test(arguments: [
        ("$.data.items", #"{"other": {"partial": true, "incomplete": true}, "data": {"items": LIST}}"#),
        ("$.partial.items", #"{"partial": {"items": LIST}}"#),
        ("$.items", #"{"partial": {"id": 1}, "incomplete": [true], "items": LIST}"#),
        ("$.items", #"{"items": [{"id": 1, "partial": true, "incomplete": true}]}"#),
        ("$.items", #"{"items": LIST, "cart": {"partial": true}}"#),
        ("$.items", #"{"items": LIST, "error": {"code": 0, "message": "OK"}}"#),
        ("$.items", #"{"items": LIST, "error": {"code": 200, "message": "Success", "details": []}}"#),
    ])
    func `a flag elsewhere, and an error that is none, change nothing`(records: String, reply: String) throws {
        let scan = try once(
            reply.replacing("LIST", with: #"[{"id": 1}]"#), [("records", .text(records)), ("paging", "none")])
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        ("$.data.items", #"{"data": {"partial": true, "items": LIST}}"#, "$.data.partial is true"),
        ("$.data.items", #"{"partial": true, "data": {"items": LIST}}"#, "$.partial is true"),
        ("$.a.b.items", #"{"a": {"incomplete": true, "b": {"items": LIST}}}"#, "$.a.incomplete is true"),
        // Elasticsearch.
        (
            "$.hits.events", #"{"is_partial": true, "is_running": true, "hits": {"events": LIST}}"#,
            "$.is_partial is true"
        ),
        (
            "$.response.hits.hits", #"{"is_partial": true, "response": {"hits": {"hits": LIST}}}"#,
            "$.is_partial is true"
        ),
        (
            "$.a.b.c.d.e.items", #"{"a": {"b": {"c": {"d": {"e": {"items": LIST, "partial": "true"}}}}}}"#,
            "e.partial is true"
        ),
        ("$.groups[*].items", #"{"incomplete": true, "groups": [{"items": LIST}]}"#, "$.incomplete is true"),
        ("$.items", #"{"items": LIST, "error": {"code": 3, "message": "OK"}}"#, "$.error is an object: OK"),
        ("$.items", #"{"items": LIST, "error": {"code": 0, "message": "slow"}}"#, "$.error is an object: slow"),
    ])
    func `a flag around the list, and an error, show that records may be missing`(
        records: String, reply: String, sign: String
    ) throws {
        let scan = try once(
            reply.replacing("LIST", with: #"[{"id": 1}]"#), [("records", .text(records)), ("paging", "none")])
        #expect(scan.ids == [1] && scan.last?.isComplete == false && scan.warnings.count == 1, "\(scan)")
        #expect(scan.warnings.first?.contains("\(sign))") == true, "\(scan)")
    }

    @Test func `signs of failure are seen beside any number of other members`() throws {
        let names = (0..<70).map { "m\($0)" }
        let members = names.map { #""\#($0)": "\#($0)","# }.joined()
        let metadata: Literal = .object(names.map { ($0, .text("$.\($0)")) })
        for (flag, isComplete) in [("true", false), ("false", true)] {
            let scan = try once(
                #"{\#(members) "timed_out": \#(flag), "items": [{"id": 1}]}"#,
                [("records", "$.items"), ("paging", "none"), ("metadata", metadata)])
            #expect(scan.ids == [1] && scan.last?.isComplete == isComplete, "\(scan)")
            #expect(names.nonEmptyAllSatisfy { scan.last?.metadata[$0] == $0 }, "\(scan)")
        }
    }
}
