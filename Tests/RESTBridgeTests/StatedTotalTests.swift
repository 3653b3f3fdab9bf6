import BridgeKit
import BridgePaging
import TestSupport
import Testing

/// Totals that differ from page to page, because the listing changes or because a reply is wrong.
@Suite struct StatedTotalTests {
    /// What a pager does with pages of links, each with a number of records and a total.
    private func run(_ pages: [(count: Int, total: Int?)], isDetected: Bool) throws -> Pager {
        let rule = try PagingRule((["style": "next_url", "total": "$.total"] as Literal).options, pageSize: nil)
        var pager = isDetected ? Pager(detected: rule, first: nil) : try Pager(rule, cursor: nil)
        var position = pager.first
        for (index, page) in pages.enumerated() {
            var facts = PageFacts()
            facts.count = page.count
            facts.digest = UInt64(index)
            facts.next = index + 1 < pages.count ? .value("https://api.example/\(index + 2)") : .none
            if isDetected {
                facts.stated = page.total.map { ("$.total", $0) }
            } else {
                facts.total = page.total
            }
            guard case .go(let next) = try pager.after(position, facts) else { break }
            position = next
        }
        return pager
    }

    @Test(
        arguments: [
            // New records that are not on the pages that are left.
            ([(5, 10), (5, 11)], true), ([(5, 10), (5, 12), (0, 14)], true),
            // New records on the pages that are left, and others that are not.
            ([(5, 10), (5, 14), (0, 20)], true), ([(5, 10), (6, 11)], true),
            // Deleted records.
            ([(5, 10), (4, 9)], true), ([(5, 10), (5, 9)], true), ([(5, 10), (0, 5)], true),
            // Unknown totals.
            ([(5, nil), (5, nil)], true), ([(5, 0), (5, 0)], true), ([(5, 5), (5, 5)], true),
            // Pages that end early.
            ([(5, 23), (5, 23)], false), ([(5, 23), (5, nil)], false), ([(5, nil), (5, 23)], false),
            ([(5, 5), (5, 23)], false), ([(5, 23), (5, 24)], false), ([(5, 23), (5, 22)], false),
            // Replies that take the total back, as one about a failure does.
            ([(5, 23), (0, 0)], false), ([(5, 23), (5, 0)], false), ([(5, 23), (5, 5)], false),
            ([(5, 23), (5, 23), (0, 3)], false),
            // Estimates that the records pass, in a listing that is cut off.
            ([(5, 9), (5, 99)], false), ([(5, 9), (5, 99), (5, 99)], false), ([(5, 10), (5, 14), (2, 20)], false),
            ([(5, 9), (5, nil), (5, 99)], false),
        ] as [([(Int, Int?)], Bool)])
    func `the lowest total that the records do not refute has to be reached`(
        pages: [(Int, Int?)], isComplete: Bool
    ) throws {
        for isDetected in [true, false] {
            let pager = try run(pages.map { (count: $0.0, total: $0.1) }, isDetected: isDetected)
            #expect(pager.isComplete == isComplete, "\(pages): \(pager.warnings)")
            #expect(pager.warnings.count == (isComplete ? 0 : 1), "\(pages): \(pager.warnings)")
        }
    }

    @Test(arguments: ["page", "offset"])
    func `a named total that is the number of a full first page is confirmed by the next page`(style: String) throws {
        for (counts, totals, read) in [
            // A count of each page's records.
            ([5, 5, 2], [5, 5, 2], 3), ([5, 4, 0], [5, 4, 0], 2),
            // A listing that just fills a page, and one that is shorter.
            ([5, 0], [5, 5], 2), ([4, 0], [4, 4], 1), ([5, 5, 0], [10, 10, 10], 2),
        ] {
            let paging: Literal = ["style": .text(style), "size": 5, "total": "$.count"]
            var pager = try Pager(PagingRule(paging.options, pageSize: nil), cursor: nil)
            var position: PagePosition? = pager.first
            var pages = 0
            while let place = position, pages < counts.count {
                var facts = PageFacts()
                facts.count = counts[pages]
                facts.total = totals[pages]
                facts.digest = UInt64(pages)
                pages += 1
                position = if case .go(let next) = try pager.after(place, facts) { next } else { nil }
            }
            #expect(pages == read && pager.isComplete && pager.warnings.isEmpty, "\(counts): \(pages), \(pager)")
        }
    }

    // MARK: Links without an End

    /// The number of pages that a pager reads of detected links without an end, at most 150.
    ///
    /// - Parameters:
    ///   - pages: The number of records and the total of the first pages.
    ///   - total: The total of the pages without records that follow.
    private func endless(_ pages: [(Int, Int)], then total: Int?) throws -> (count: Int, pager: Pager) {
        let rule = try PagingRule((["style": "next_url", "path": "$.next"] as Literal).options, pageSize: nil)
        var pager = Pager(detected: rule, first: nil)
        var position = pager.first
        for index in 0..<150 {
            var facts = PageFacts()
            facts.count = index < pages.count ? pages[index].0 : 0
            facts.counted = index < pages.count ? pages[index].1 : total
            facts.digest = UInt64(index)
            facts.next = .value("https://api.example/\(index + 2)")
            guard case .go(let next) = try pager.after(position, facts) else { return (index + 1, pager) }
            position = next
        }
        return (150, pager)
    }

    @Test func `a page without records ends links that never end where all counted records have come`() throws {
        for (pages, total, count) in [([(5, 8), (3, 8)], 8, 3), ([(5, 8), (4, 9)], 9, 3), ([(5, 5)], 5, 11)] {
            let (read, pager) = try endless(pages, then: total)
            #expect(read == count && pager.isComplete && pager.warnings.isEmpty, "\(pages)")
        }
    }

    @Test(
        arguments: [
            // A count of the page's own records, or of those so far, and a total that is not reached or not there.
            ([(5, 5), (5, 5)], 0), ([(5, 5), (5, 5)], 5), ([(5, 9), (3, 9)], 9), ([(5, 8), (3, 8)], nil),
            // Totals that the first page refutes.
            ([(5, 9), (3, 8)], 8), ([(5, 0), (3, 8)], 0), ([(5, 8), (4, 8)], 8),
        ] as [([(Int, Int)], Int?)])
    func `no other number ends them`(pages: [(Int, Int)], total: Int?) throws {
        let error = try bridgeError { _ = try endless(pages, then: total) }
        #expect(error.message == "paging does not end: 101 pages in a row hold no records")
        #expect(error.remedy?.contains("set paging.end_below: 1;") == true, "\(error)")
    }

    @Test func `a later scan does not continue after many pages without records`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": .text(try RemoteServer.shared.get().url)])
        let pages = (0..<30).map { page in
            let next = page < 29 ? #""\#(page + 1)""# : "null"
            let list = page == 0 || page == 29 ? #"{"id": \#(page)}"# : ""
            return #""\#(page == 0 ? "" : "\(page)")": {"items": [\#(list)], "next_cursor": \#(next)}"#
        }
        let query: Literal = ["by": "cursor", "of": .text("{\(pages.joined(separator: ","))}")]
        let paging: Literal = ["style": "cursor", "path": "$.next_cursor"]
        let scan = try Scan(
            source(bridge, ["path": "/zoo/told", "query": query, "records": "$.items", "paging": paging]))
        #expect(scan.ids == [0, 29] && scan.last?.isComplete == true, "\(scan)")
        let kept = scan.pages.indices.filter { scan.pages[$0].cursor != nil }
        #expect(kept == Array(0..<20), "\(kept)")
    }

    @Test func `the total of an API ends its cursors at an empty page`() throws {
        let bridge = try RESTBridgeTests.bridge(["url": .text(try RemoteServer.shared.get().url)])
        func scan(_ total: Int, name: String = "total") throws -> Scan {
            func page(_ list: String, _ next: String, _ total: Int) -> String {
                #"{"items": [\#(list)], "next_cursor": \#(next), "\#(name)": \#(total)}"#
            }
            let pages = #"""
                {"": \#(page(#"{"id": 1}"#, #""a""#, 2)), "a": \#(page(#"{"id": 2}"#, #""b""#, 2)),
                 "b": \#(page("", #""c""#, total)), "c": \#(page(#"{"id": 3}"#, "null", 3))}
                """#
            let query: Literal = ["by": "cursor", "of": .text(pages)]
            return try Scan(source(bridge, ["path": "/zoo/told", "query": query]))
        }
        let ended = try scan(2)
        #expect(ended.ids == [1, 2] && ended.pages.count == 3 && ended.last?.isComplete == true, "\(ended)")
        for other in [try scan(0), try scan(3), try scan(2, name: "count")] {
            #expect(other.ids == [1, 2, 3] && other.last?.isComplete == true, "\(other)")
        }
    }

    // MARK: Totals of Searches

    @Test func `a total that is a usual limit is not the end of a detected listing whose last page is full`() throws {
        func run(_ counts: [Int], total: Int, isDetected: Bool = true) throws -> Pager {
            let rule = try PagingRule((["style": "page", "total": "$.total"] as Literal).options, pageSize: nil)
            var pager = isDetected ? Pager(detected: rule, first: nil) : try Pager(rule, cursor: nil)
            var position = pager.first
            for (index, count) in counts.enumerated() {
                var facts = PageFacts()
                facts.count = count
                facts.total = total
                facts.digest = UInt64(index)
                guard case .go(let next) = try pager.after(position, facts) else { break }
                position = next
            }
            return pager
        }
        let hundreds = Array(repeating: 100, count: 10)
        for (counts, total) in [(hundreds, 1000), (hundreds.map { $0 * 10 }, 10_000)] {
            let capped = try run(counts, total: total)
            #expect(!capped.isComplete && capped.warnings.count == 1, "\(capped.warnings)")
            #expect(capped.warnings.first?.hasPrefix("the reply says \(total) records, where many APIs limit") == true)
            let written = try run(counts, total: total, isDetected: false)
            #expect(written.isComplete && written.warnings.isEmpty, "\(written.warnings)")
        }
        for (counts, total) in [([300, 300, 300, 100], 1000), ([1000], 1000), (hundreds + [100], 1100)] {
            let whole = try run(counts, total: total)
            #expect(whole.isComplete && whole.warnings.isEmpty, "\(counts): \(whole.warnings)")
        }
    }
}
