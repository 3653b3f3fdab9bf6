import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import RESTBridge

/// Listings that end too early or lack records: none of them may count as complete, whose absent rows are deleted.
@Suite struct IncompleteListingTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": .text(server.url)])
    }

    /// A scan over pages that the zoo serves as they are written here.
    private func told(
        by parameter: String, _ pages: String, paging: Literal, _ more: Literal.Members = [], cursor: String? = nil
    ) throws -> Scan {
        let query: Literal = ["by": .text(parameter), "of": .text(pages)]
        var section: Literal.Members = [("path", "/zoo/told"), ("query", query), ("paging", paging)]
        if !more.contains(where: { $0.0 == "records" }) { section.append(("records", "$.items")) }
        return try Scan(source(bridge, .object(section + more), cursor: cursor))
    }

    // MARK: Replies without Records

    @Test func `a page without content continues by its Link header`() throws {
        let scan = try Scan(
            source(bridge, ["path": "/zoo/gaps", "query": ["empty": "204"], "paging": ["style": "link_header"]]))
        #expect(scan.ids == [1, 3] && scan.pages.count == 3)
        #expect(scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `a page without content on detected paging continues, too`() throws {
        let scan = try Scan(source(bridge, ["path": "/zoo/gaps", "query": ["empty": "204", "at": "1"]]))
        #expect(scan.ids == [2, 3] && scan.last?.isComplete == true, "\(scan)")
    }

    /// Replies in place of a third page, and whether they are the end.
    private static let thirds: [(page: String, isComplete: Bool)] = [
        (#"{"items": [], "status": "THROTTLED"}"#, false),
        (#"{"items": [], "message": "API rate limit exceeded"}"#, false),
        (#"{"items": [], "page": 3, "per_page": 2}"#, true), (#"{"items": [], "per_page": 2}"#, true),
        (#"{"items": [], "page": null}"#, true),
    ]

    @Test(arguments: thirds)
    func `an empty page without the numbers of the earlier pages does not end the listing`(
        page: String, isComplete: Bool
    ) throws {
        let numbers = #""per_page": 2, "page""#
        let pages = #"""
            "": {"items": [{"id": 1}, {"id": 2}], \#(numbers): 1}, "1": {"items": [{"id": 1}, {"id": 2}], \#(numbers): 1},
            "2": {"items": [{"id": 3}, {"id": 4}], \#(numbers): 2}, "3": \#(page)
            """#
        for paging: Literal in ["auto", ["style": "page"]] {
            let scan = try told(by: "page", "{\(pages)}", paging: paging)
            #expect(scan.ids == [1, 2, 3, 4] && scan.last?.isComplete == isComplete, "\(scan)")
            #expect(scan.warnings.count == (isComplete ? 0 : 1), "\(scan)")
            #expect(scan.warnings.first?.contains("unlike the pages before, no $.page,") == (isComplete ? nil : true))
        }
        let rule: Literal = ["when": ["path": "$.page", "missing": true], "action": "empty"]
        let ruled = try told(by: "page", "{\(pages)}", paging: ["style": "page"], [("responses", .array([rule]))])
        #expect(ruled.ids == [1, 2, 3, 4] && ruled.last?.isComplete == true && ruled.warnings.isEmpty, "\(ruled)")
    }

    @Test func `without numbers in the pages an empty one is the end`() throws {
        let pages = #"{"1": {"items": [{"id": 1}]}, "2": {"items": [], "message": "no more"}}"#
        let scan = try told(by: "page", pages, paging: ["style": "page"])
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    private static let busy: [(style: String, page: String, ids: [Int], isTold: Bool)] = [
        ("cursor", #"{"busy": true}"#, [1], false),
        ("cursor", #"{"busy": true, "next": "3"}"#, [1, 3], true),
        ("cursor", #"{"busy": true, "next": null}"#, [1], false),
        ("keyset", #"{"busy": true}"#, [1], false),
    ]

    @Test(arguments: busy)
    func `an ignored reply that does not say how to continue does not end the listing`(
        style: String, page: String, ids: [Int], isTold: Bool
    ) throws {
        let (parameter, second) = style == "keyset" ? ("after", "1") : ("cursor", "2")
        let scan = try told(
            by: parameter,
            #"{"": {"items": [{"id": 1}], "next": "2"}, "\#(second)": \#(page), "3": {"items": [{"id": 3}]}}"#,
            paging: style == "cursor" ? ["style": "cursor", "path": "$.next"] : ["style": .text(style)],
            [("responses", [["when": ["path": "$.busy"], "action": "ignore"]])])
        // The page stands in the place of records, wherever the listing continues.
        #expect(scan.ids == ids && scan.last?.isComplete == false, "\(scan)")
        #expect(
            scan.warnings.contains { $0.contains("does not say how the listing continues") } != isTold, "\(scan)")
        #expect(scan.warnings.contains { $0.contains("the reply 200 is ignored") }, "\(scan)")
    }

    @Test func `an ignored page that lacks the records' member has none`() throws {
        let scan = try told(
            by: "cursor",
            #"{"": {"items": [{"id": 1}], "next": "2"}, "2": {"next": "3"}, "3": {"items": [{"id": 3}], "next": null}}"#,
            paging: ["style": "cursor", "path": "$.next"],
            [("responses", [["when": ["path": "$.items", "missing": true], "action": "ignore"]])])
        #expect(scan.ids == [1, 3] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `an accepted reply may have something else instead of records, and is not complete`() throws {
        let rule: Literal = [["when": ["path": "$.error"], "action": "accept"]]
        func scan(_ reply: String, records: String = "$.items") throws -> Scan {
            try told(
                by: "x", #"{"": \#(reply)}"#, paging: "none", [("records", .text(records)), ("responses", rule)])
        }
        let failed = try scan(#"{"error": "no such team"}"#)
        #expect(failed.records.isEmpty && failed.last?.isComplete == false, "\(failed)")
        #expect(failed.warnings.first?.contains("has nothing at records, and responses accepts it") == true)
        let good = try scan(#"{"error": null, "items": [{"id": 1}]}"#)
        #expect(good.ids == [1] && good.last?.isComplete == true && good.warnings.isEmpty, "\(good)")
        #expect(throws: BridgeError.self) { try scan(#"{"items": [{"id": 1}]}"#, records: "$.rows") }
    }

    @Test(arguments: [(#"{"busy": true}"#, [1]), (#"{"busy": true, "more": true}"#, [1, 3])])
    func `an ignored page of numbered pages does not end the listing`(page: String, ids: [Int]) throws {
        let scan = try told(
            by: "page",
            #"{"1": {"items": [{"id": 1}]}, "2": \#(page), "3": {"items": [{"id": 3}]}, "4": {"items": [], "more": false}}"#,
            paging: ["style": "page", "has_more": "$.more"],
            [("responses", [["when": ["path": "$.busy"], "action": "ignore"]])])
        #expect(scan.ids == ids && scan.last?.isComplete == false, "\(scan)")
    }

    @Test(arguments: [false, true])
    func `an ignored page continues by its Link header`(isLost: Bool) throws {
        for paging: Literal in [["style": "link_header"], "auto"] {
            let query: Literal.Members = [("empty", "busy")] + (isLost ? [("lost", "1")] : [])
            let scan = try Scan(
                source(
                    bridge,
                    [
                        "path": "/zoo/gaps", "query": .object(query), "paging": paging,
                        "responses": [["when": ["path": "$.busy"], "action": "ignore"]],
                    ]))
            #expect(scan.ids == (isLost ? [1] : [1, 3]) && scan.last?.isComplete == false, "\(scan)")
        }
    }

    @Test(
        arguments: [["style": "cursor", "path": "$.next"], ["style": "next_url"], ["style": "link_header"], "auto"]
            as [Literal])
    func `no content at all is an empty listing`(paging: Literal) throws {
        let scan = try told(by: "page", #"{"": {"@head": {"status": 204}}}"#, paging: paging)
        #expect(scan.records.isEmpty && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    // MARK: Empty Pages

    @Test func `an empty page that says that there is more does not end numbered pages`() throws {
        let scan = try told(
            by: "page",
            #"{"1": {"items": [{"id": 1}], "has_more": true}, "2": {"items": [], "has_more": true}, "#
                + #""3": {"items": [{"id": 3}], "has_more": false}}"#,
            paging: ["style": "page", "has_more": "$.has_more"])
        #expect(scan.ids == [1, 3] && scan.last?.isComplete == true, "\(scan)")
    }

    @Test(arguments: [
        ("offset", "offset", #""0": {"items": [{"id": 1}], "has_more": true}, "1": {"items": [], "has_more": true}"#),
        ("keyset", "after", #""": {"items": [{"id": 1}], "has_more": true}, "1": {"items": [], "has_more": true}"#),
        (
            "cursor", "cursor",
            #""": {"items": [{"id": 1}], "has_more": true, "next": "a"}, "a": {"items": [], "has_more": true, "next": "a"}"#
        ),
    ])
    func `an empty page that says that there is more is not the end of a listing`(
        style: String, parameter: String, pages: String
    ) throws {
        var paging: Literal.Members = [("style", .text(style)), ("has_more", "$.has_more")]
        if style == "cursor" { paging.append(("path", "$.next")) }
        let scan = try told(by: parameter, "{\(pages)}", paging: .object(paging))
        #expect(scan.ids == [1] && scan.last?.isComplete == false, "\(scan)")
        #expect(scan.warnings == ["page 2 has no records, but says that there are more: the listing is not complete"])
    }

    // MARK: Totals

    private static let ends: [(paging: Literal.Members, pages: String)] = [
        (
            [("style", "cursor"), ("path", "$.next")],
            #""": {"items": [{"id": 1}], "next": "2", "total": TOTAL}, "2": {"items": [{"id": 2}], "next": null, "total": TOTAL}"#
        ),
        (
            [("style", "cursor"), ("path", "$.next")],
            #""": {"items": [{"id": 1}], "next": "2", "total": TOTAL}, "2": {"items": [{"id": 2}]}"#
        ),
        (
            [("style", "cursor"), ("path", "$.next"), ("has_more", "$.more")],
            #""": {"items": [{"id": 1}], "next": "2", "total": TOTAL}, "2": {"items": [{"id": 2}], "next": "3", "more": false}"#
        ),
        (
            [("style", "cursor"), ("path", "$.next")],
            #""": {"items": [{"id": 1},{"id": 2}], "next": "2", "total": TOTAL}, "2": {"items": [], "next": "2"}"#
        ),
        ([("style", "next_url")], #""": {"items": [{"id": 1},{"id": 2}], "next": null, "total": TOTAL}"#),
        ([("style", "link_header")], #""": {"items": [{"id": 1},{"id": 2}], "total": TOTAL}"#),
        (
            [("style", "keyset"), ("has_more", "$.more"), ("parameter", "cursor")],
            #""": {"items": [{"id": 1},{"id": 2}], "more": false, "total": TOTAL}"#
        ),
        (
            [("style", "page"), ("has_more", "$.more"), ("page_parameter", "cursor"), ("start", 0)],
            #""0": {"items": [{"id": 1},{"id": 2}], "more": false, "total": TOTAL}"#
        ),
    ]

    @Test(arguments: ends)
    func `a listing that ends before the total that paging names is not complete`(
        paging: Literal.Members, pages: String
    ) throws {
        for (total, isComplete) in [("3", false), ("2", true), ("null", true)] {
            let scan = try told(
                by: "cursor", "{\(pages.replacing("TOTAL", with: total))}",
                paging: .object(paging + [("total", "$.total")]))
            #expect(scan.ids == [1, 2] && scan.last?.isComplete == isComplete, "\(total): \(scan)")
            #expect(
                scan.warnings == (isComplete ? [] : ["the reply says 3 records, but its pages held 2: not complete"]))
        }
    }

    @Test(arguments: ["-1", "0", "1"], ["page", "offset"])
    func `a total below the number of records received does not end a listing`(total: String, style: String) throws {
        let page = { (id: Int) in #"{"items": [{"id": \#(id)}, {"id": \#(id + 1)}], "total": \#(total)}"# }
        let names = style == "page" ? ["1", "2", "3"] : ["0", "2", "4"]
        let scan = try told(
            by: style, #"{"\#(names[0])": \#(page(1)), "\#(names[1])": \#(page(3)), "\#(names[2])": {"items": []}}"#,
            paging: ["style": .text(style), "size": 2, "total": "$.total"])
        #expect(scan.ids == [1, 2, 3, 4] && scan.last?.isComplete == true, "\(scan)")
    }

    @Test func `a number of pages below one does not end a listing`() throws {
        let scan = try told(
            by: "page",
            #"{"1": {"items": [{"id": 1}], "pages": 0}, "2": {"items": [{"id": 2}], "pages": -1}, "3": {"items": []}}"#,
            paging: ["style": "page", "pages": "$.pages"])
        #expect(scan.ids == [1, 2] && scan.last?.isComplete == true, "\(scan)")
    }

    // MARK: The Number of Records

    @Test func `a filter inside the path of the records does not shorten the pages`() throws {
        let page = { (types: [String]) in
            let items = types.enumerated().map { #"{"type": "\#($1)", "repo": {"id": \#($0 + types.count)}}"# }
            return #"{"items": [\#(items.joined(separator: ","))]}"#
        }
        let scan = try told(
            by: "page",
            #"{"1": \#(page(["repo", "repo", "x"])), "2": \#(page(["x", "repo", "x"])), "3": {"items": [{"type": "repo", "repo": {"id": 9}}]}}"#,
            paging: ["style": "page", "size": 3], [("records", "$.items[?@.type=='repo'].repo")])
        #expect(scan.ids == [3, 4, 4, 9] && scan.last?.isComplete == true && scan.pages.count == 3, "\(scan)")
    }

    @Test(arguments: ["", #", "total": 3"#])
    func `offsets count the outermost list`(total: String) throws {
        let order = { (id: Int) in #"{"lines": [{"id": \#(id)}, {"id": \#(id + 1)}]}"# }
        let paging: Literal.Members = [("style", "offset"), ("size", 2), ("limit_parameter", "limit")]
        let scan = try told(
            by: "offset",
            #"{"0": {"orders": [\#(order(10)), \#(order(20))]\#(total)}, "2": {"orders": [\#(order(30))]\#(total)}}"#,
            paging: .object(paging + (total.isEmpty ? [] : [("total", "$.total")])),
            [("records", "$.orders[*].lines[*]")])
        #expect(scan.ids == [10, 11, 20, 21, 30, 31] && scan.last?.isComplete == true, "\(scan)")
    }

    // MARK: Signs of Failure

    private static let signs: [(String, String)] = [
        (#""errors": [{"message": "shard 3 is down"}]"#, "$.errors is a list"),
        (#""error": "partial result""#, "$.error is a text: partial result"),
        (#""error": {"message": "slow"}"#, "$.error is an object: slow"),
        (#""success": false"#, "$.success is false"),
        (#""timed_out": true"#, "$.timed_out is true"),
        (#""_shards": {"total": 5, "failed": 2}"#, "$._shards.failed is 2"),
    ]

    @Test(arguments: signs)
    func `a sign of failure beside the records means that some may be missing`(member: String, sign: String) throws {
        let reply = #"{"": {"items": [{"id": 1}], \#(member)}}"#
        for paging: Literal in ["none", "auto"] {
            let scan = try told(by: "x", reply, paging: paging)
            #expect(scan.ids == [1] && scan.last?.isComplete == false, "\(scan)")
            #expect(scan.warnings.count == 1 && scan.warnings[0].contains("(\(sign))"), "\(scan)")
        }
        let path = sign.prefix { $0 != " " }
        let rule: Literal = [["when": ["path": .text(String(path))], "action": "accept"]]
        let told = try told(by: "x", reply, paging: "none", [("responses", rule)])
        #expect(told.last?.isComplete == true && told.warnings.isEmpty, "\(told)")
    }

    @Test func `a failure on the first page leaves no place to resume from`() throws {
        let scan = try told(
            by: "page",
            #"{"1": {"items": [{"id": 1}], "timed_out": true}, "2": {"items": [{"id": 2}]}, "3": {"items": []}}"#,
            paging: ["style": "page"])
        #expect(scan.ids == [1, 2] && scan.last?.isComplete == false, "\(scan)")
        #expect(scan.pages.nonEmptyAllSatisfy { $0.cursor == nil })
    }

    @Test(arguments: [
        #""errors": []"#, #""error": null"#, #""error": """#, #""error": {}"#, #""errors": {}"#, #""success": true"#,
        #""timed_out": false"#, #""_shards": {"failed": 0}"#, #""error": false"#, #""message": "two found""#,
        #""error": {"code": 0, "message": "OK"}"#, #""error": "No errors.""#,
    ])
    func `a sign that all is well changes nothing`(member: String) throws {
        let scan = try told(by: "x", #"{"": {"items": [{"id": 1}], \#(member)}}"#, paging: "none")
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        (#""message": "the backend is busy""#, false), (#""message": "success", "code": 0"#, true),
        (#""total": 0"#, true), (#""success": true"#, true), (#""name": "x""#, false), (#""total": 3"#, false),
    ])
    func `null in place of the records is an empty listing if the reply says so`(
        member: String, isComplete: Bool
    ) throws {
        let scan = try told(by: "x", #"{"": {"items": null, \#(member)}}"#, paging: "none")
        #expect(scan.records.isEmpty && scan.last?.isComplete == isComplete, "\(scan)")
    }

    @Test(arguments: ["null", #"{"items": null}"#, #"{"items": {"nodes": null}}"#])
    func `null alone deletes nothing until a rule says that it means no records`(reply: String) throws {
        let path = reply == "null" ? "$" : reply.contains("nodes") ? "$.items.nodes" : "$.items"
        func scan(_ more: Literal.Members = []) throws -> Scan {
            try told(by: "x", #"{"": \#(reply)}"#, paging: "none", [("records", .text(path))] + more)
        }
        let plain = try scan()
        #expect(plain.records.isEmpty && plain.last?.isComplete == false)
        #expect(plain.warnings.first?.contains("null where the records should be (\(path))") == true, "\(plain)")
        for action in ["empty", "accept"] {
            let rule: Literal = ["when": ["path": .text(path), "equals": "null"], "action": .text(action)]
            let allowed = try scan([("responses", [rule])])
            #expect(allowed.records.isEmpty && allowed.last?.isComplete == true && allowed.warnings.isEmpty)
        }
    }

    @Test func `null above the records is not an empty listing`() throws {
        for reply in [#"{"items": null}"#, #"{"items": {"team": null}}"#] {
            let error = try bridgeError {
                _ = try told(by: "x", #"{"": \#(reply)}"#, paging: "none", [("records", "$.items.team.nodes")])
            }
            #expect(error.message == "page 1 of User: the reply has nothing at $.items.team.nodes")
        }
    }

    @Test func `null ends the pages after those with records`() throws {
        let scan = try told(
            by: "page", #"{"1": {"items": [{"id": 1}]}, "2": {"items": null}}"#, paging: ["style": "page"])
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        ("success", true), ("Orders retrieved successfully", true), ("Rate limit applied", false),
        ("Request accepted, result pending", false),
    ])
    func `null on a later page is the end unless a message beside it says something else`(
        message: String, isComplete: Bool
    ) throws {
        let last = #"{"items": null, "message": "\#(message)"}"#
        let scan = try told(
            by: "page", #"{"1": {"items": [{"id": 1}]}, "2": \#(last)}"#, paging: ["style": "page"])
        #expect(scan.ids == [1] && scan.last?.isComplete == isComplete, "\(scan)")
    }

    // MARK: Lines

    @Test func `a page of lines with an open end leaves no place to resume from`() throws {
        let scan = try Scan(
            source(
                bridge,
                [
                    "path": "/coded-lines/identity/close", "query": ["pages": 2],
                    "paging": ["style": "cursor", "header": "X-Next-Cursor"],
                ]))
        #expect(scan.pages.count == 2 && scan.last?.isComplete == false, "\(scan)")
        #expect(scan.pages.nonEmptyAllSatisfy { $0.cursor == nil }, "\(scan)")
    }
}
