import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import RESTBridge

/// Records that a section leaves out, by a filter or by a rule for refusals, must not pass for the end of the listing.
@Suite struct LeftOutTests {
    let server: RemoteServer

    private static let shared = Result { try RemoteServer.fixture("apis.py") }

    init() throws { server = try Self.shared.get() }

    private func scan(_ section: Literal) throws -> Scan {
        try Scan(source(RESTBridgeTests.bridge(["url": .text(server.url)]), section))
    }

    /// The 21st of 25 records, of which a page has ten.
    private static let filtered: [(path: String, records: String, paging: Literal)] = [
        (
            "/v1/customers", "$.data[?@.name=='Customer 21']",
            ["style": "keyset", "field": "id", "parameter": "starting_after", "has_more": "$.has_more"]
        ),
        (
            "/rest/api/2/search", "$.issues[?@.key=='EX-21']",
            ["style": "offset", "offset_parameter": "startAt", "total": "$.total"]
        ),
        (
            "/repos/octo/hello/issues", "$[?@.title=='Issue 21']",
            ["style": "page", "page_parameter": "page", "size_parameter": "per_page", "size": 10]
        ),
    ]

    @Test(arguments: filtered)
    func `a filter does not shorten the pages`(path: String, records: String, paging: Literal) throws {
        let scan = try scan(["path": .text(path), "records": .text(records), "paging": paging])
        #expect(scan.records.count == 1 && scan.records.first?.contains("21\"") == true, "\(scan)")
        #expect(scan.pages.count == 3 && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        ("$[?@.kind=='a']", #"{"id": 1, "kind": "a", "of": {"id": 2, "kind": "a"}}"#, [1]),
        ("$[?@.kind=='a']", #"{"id": 1, "kind": "b", "of": {"id": 2, "kind": "a"}}"#, []),
        ("$.data[?@.kind=='a']", #"{"data": {"id": 1, "kind": "a"}}"#, [1]),
        ("$.data[?@.kind=='a']", #"{"data": [{"id": 1, "kind": "a"}, {"id": 2, "kind": "b"}]}"#, [1]),
        ("$.data[*][?@.kind=='a']", #"{"data": {"x": {"id": 1, "kind": "a"}, "y": {"id": 2, "kind": "b"}}}"#, [1]),
        ("$.data[*][?@.kind=='a']", #"{"data": [{"id": 1, "kind": "b"}, {"id": 2, "kind": "a"}]}"#, [2]),
    ])
    func `a filter selects an object in the place of a list, or nothing`(records: String, body: String, ids: [Int])
        throws
    {
        let scan = try scan([
            "path": "/says", "query": ["body": .text(body)], "records": .text(records), "paging": "none",
        ])
        #expect(scan.ids == ids && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `a filter and an index do not take any object for the list`() throws {
        func scan(_ body: String, _ records: String) throws -> Scan {
            try self.scan([
                "path": "/says", "query": ["body": .text(body)], "records": .text(records), "paging": "none",
            ])
        }
        #expect(try scan(#"{"data": [{"id": 1}, {"id": 2}]}"#, "$.data[0]").ids == [1])
        for records in ["$.data[0]", "$.data[?@.kind=='a']"] {
            let error = try bridgeError { _ = try scan(#"{"data": {"message": "busy"}}"#, records) }
            #expect(error.message.contains("has an object where \(records) needs a list"), "\(error)")
        }
    }

    @Test(arguments: [(403, false), (500, false), (400, false), (404, true), (410, true)])
    func `a refusal that is ignored does not make the listing complete`(status: Int, isComplete: Bool) throws {
        let scan = try scan([
            "path": "/says", "query": ["status": .integer(Int64(status)), "body": "{}"], "paging": "none",
            "responses": [["status": .integer(Int64(status)), "action": "ignore"]],
        ])
        #expect(scan.records.isEmpty && scan.last?.isComplete == isComplete, "\(scan)")
        #expect(scan.warnings.contains { $0.contains("the reply \(status) is ignored") } == !isComplete, "\(scan)")
    }

    @Test(arguments: [
        ("json", "[]", 0), ("json", #"[{"id": 1}]"#, 1), ("csv", "id\n", 0), ("ndjson", #"{"id": 1}"#, 1),
    ])
    func `a listing that the remote has only accepted is not complete`(format: String, body: String, count: Int) throws
    {
        let section: Literal.Members = [
            ("path", "/says"), ("query", ["status": 202, "body": .text(body)]), ("format", .text(format)),
            ("paging", "none"),
        ]
        let scan = try scan(.object(section))
        #expect(scan.records.count == count && scan.last?.isComplete == false && scan.last?.token == nil, "\(scan)")
        #expect(scan.warnings.count == 1 && scan.warnings.first?.contains("202 (Accepted)") == true, "\(scan)")
        for action in ["accept", "empty", "ignore"] {
            let rule: Literal = ["status": 202, "action": .text(action)]
            let told = try self.scan(.object(section + [("responses", .array([rule]))]))
            #expect(told.records.count == (action == "accept" ? count : 0), "\(action): \(told)")
            #expect(told.last?.isComplete == true && told.warnings.isEmpty, "\(action): \(told)")
        }
    }

    /// Replies 206, and whether they are the whole listing.
    private static let parts: [(body: String, range: String?, section: Literal.Members, isComplete: Bool)] = [
        (#"[{"id": 1}]"#, nil, [], false), ("[]", nil, [("paging", "none")], false),
        ("id\n1\n", nil, [("format", "csv")], false), (#"{"items": [{"id": 1}], "count": 1}"#, nil, [], false),
        (#"{"items": [{"id": 1}], "next": null}"#, nil, [("paging", ["style": "next_url", "path": "$.next"])], true),
        (#"{"items": [{"id": 1}], "total": 1}"#, nil, [], true), (#"[{"id": 1}]"#, "0-0/1", [], true),
        ("[]", "*/0", [("paging", "none")], true),
        (
            #"{"items": [{"id": 1}], "more": false}"#, nil,
            [("paging", ["style": "page", "has_more": "$.more"])], true
        ),
        (#"[{"id": 1}]"#, nil, [("paging", ["style": "none", "whole": true])], true),
        (#"[{"id": 1}]"#, nil, [("responses", [["status": 206, "action": "accept"]])], true),
    ]

    @Test(arguments: parts)
    func `an only page that is a part is not complete, unless it says that it has all records`(
        body: String, range: String?, section: Literal.Members, isComplete: Bool
    ) throws {
        var query: Literal.Members = [("status", 206), ("body", .text(body))]
        if let range { query.append(("h-Content-Range", .text(range))) }
        let scan = try scan(.object([("path", "/says"), ("query", .object(query))] + section))
        #expect(scan.records.count == (body.contains("1") ? 1 : 0), "\(scan)")
        #expect(scan.last?.isComplete == isComplete, "\(scan)")
        #expect(scan.warnings.contains { $0.contains("206 (Partial Content)") } != isComplete, "\(scan)")
        #expect(scan.warnings.count == (isComplete ? 0 : 1), "\(scan)")
    }

    @Test func `parts that lead to the next one are a complete listing`() throws {
        let scan = try scan(["path": "/partial", "paging": ["style": "offset", "size": 10]])
        #expect(scan.ids == Array(1...25) && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `a slice that is not complete leaves no place to resume from`() throws {
        let scan = try scan([
            "path": "/says", "query": ["status": "{kind}", "body": "[]"], "each": ["kind": ["403", "200"]],
            "paging": "none", "responses": [["status": 403, "action": "ignore"]],
        ])
        #expect(scan.pages.count == 2 && scan.pages.nonEmptyAllSatisfy { $0.cursor == nil }, "\(scan)")
        #expect(scan.last?.isComplete == false)
    }
}
