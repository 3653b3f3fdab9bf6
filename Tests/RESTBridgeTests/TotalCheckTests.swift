import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// A remote may cap its total: at a full page, a total alone does not end a listing.
@Suite struct TotalCheckTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
    }

    /// A scan over pages that the zoo serves as they are written here; others are a 404.
    private func told(
        _ pages: [String: String], _ paging: Literal.Members = [("size", 2)], style: String = "page",
        change: (inout FetchRequest) -> Void = { _ in }
    ) throws -> Scan {
        let text = pages.map { #""\#($0.key)": \#($0.value)"# }.joined(separator: ", ")
        let rule: Literal.Members = [("style", .text(style)), ("total", "$.total")] + paging
        let section = Literal.object([
            ("path", "/zoo/told"), ("query", ["by": .text(style), "of": .text("{\(text)}")]), ("records", "$.items"),
            ("paging", .object(rule)),
        ])
        var request = FetchRequest(entity: "User", section: section.options)
        change(&request)
        return try Scan(bridge.fetch(request))
    }

    private func page(_ ids: ClosedRange<Int>, total: Int = 4, more: String = "") -> String {
        #"{"items": [\#(ids.map { #"{"id": \#($0)}"# }.joined(separator: ","))], "total": \#(total)\#(more)}"#
    }

    private var whole: [String: String] { ["1": page(1...2), "2": page(3...4)] }

    @Test func `the records behind a capped total are read`() throws {
        let numbered = try told(["1": page(1...2), "2": page(3...4), "3": page(5...6), "4": page(7...7)])
        #expect(numbered.ids == Array(1...7) && numbered.last?.isComplete == true, "\(numbered)")
        let offsets = try told(
            ["0": page(1...2), "2": page(3...4), "4": page(5...6), "6": page(7...7)], style: "offset")
        #expect(offsets.ids == Array(1...7) && offsets.last?.isComplete == true, "\(offsets)")
    }

    @Test func `behind a capped total a page that does not exist is the end`() throws {
        let scan = try told(["1": page(1...2), "2": page(3...4), "3": page(5...6)], [])
        #expect(scan.ids == Array(1...6) && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        nil, #"{"items": [], "total": 4}"#, "{}", #"{"message": "no such page"}"#,
        #"{"items": [{"id": 3},{"id": 4}], "total": 4}"#, #"{"items": [{"id": 1},{"id": 2}], "total": 4}"#,
        #"{"@head": {"status": 400}, "@body": {"error": "no such page"}}"#,
        #"{"@head": {"status": 403}, "@body": {"error": "no such page"}}"#,
    ])
    func `a total that is right ends the listing, however the remote answers behind it`(reply: String?) throws {
        var pages = whole
        pages["3"] = reply
        let scan = try told(pages)
        #expect(scan.ids.prefix(4) == [1, 2, 3, 4] && Set(scan.ids) == [1, 2, 3, 4], "\(scan)")
        #expect(scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
        // An interrupted scan does not resume from a page that may not exist.
        #expect(scan.pages[0].cursor != nil && scan.pages[1].cursor == nil, "\(scan)")
    }

    @Test(arguments: [
        ["1": #", "next": "/2""#, "2": #", "next": null"#], ["2": #", "links": {"next": null}"#],
    ])
    func `a reply that says that nothing follows costs no request`(more: [String: String]) throws {
        let scan = try told(["1": page(1...2, more: more["1"] ?? ""), "2": page(3...4, more: more["2"] ?? "")])
        #expect(scan.ids == [1, 2, 3, 4] && scan.last?.isComplete == true && scan.pages.count == 2, "\(scan)")
    }

    @Test func `a Link field without a next page costs no request`() throws {
        let last = #"{"@head": {"Link": "<x>; rel=\"first\""}, "@body": \#(page(3...4))}"#
        let scan = try told(["1": page(1...2), "2": last])
        #expect(scan.ids == [1, 2, 3, 4] && scan.last?.isComplete == true && scan.pages.count == 2, "\(scan)")
    }

    @Test func `a page that is not full, or the last one of max_pages, costs no request`() throws {
        let short = try told(["1": page(1...2, total: 3), "2": page(3...3, total: 3)])
        #expect(short.last?.isComplete == true && short.pages.count == 2, "\(short)")
        let single = try told(["1": page(1...2, total: 2)], [])
        #expect(single.last?.isComplete == true && single.pages.count == 1, "\(single)")
        let bounded = try told(whole, [("size", 2), ("max_pages", 2)])
        #expect(bounded.last?.isComplete == true && bounded.pages.count == 2 && bounded.warnings.isEmpty, "\(bounded)")
    }

    @Test func `a part of a listing, by which nothing is deleted, costs no request`() throws {
        let scan = try told(whole) { $0.parameters = (["kind": "a"] as Literal).options }
        #expect(scan.ids == [1, 2, 3, 4] && scan.pages.count == 2, "\(scan)")
        #expect(try told(whole).pages.count == 3)
    }

    @Test func `a refusal behind a round total leaves open whether it is capped`() throws {
        let refusal = #"{"@head": {"status": 422}, "@body": {"error": "the window is too large"}}"#
        let scan = try told(
            ["1": page(1...50, total: 100), "2": page(51...100, total: 100), "3": refusal], [("size", 50)])
        #expect(scan.ids == Array(1...100) && scan.last?.isComplete == false, "\(scan.warnings)")
        #expect(
            scan.warnings.first?.hasPrefix("the reply says 100 records, and the page behind them is refused") == true)
        let absent = try told(["1": page(1...50, total: 100), "2": page(51...100, total: 100)], [("size", 50)])
        #expect(absent.ids == Array(1...100) && absent.last?.isComplete == true && absent.warnings.isEmpty)
    }
}
