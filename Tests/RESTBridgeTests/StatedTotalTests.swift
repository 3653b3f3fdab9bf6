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
            ([(5, 10), (5, 14), (2, 20)], true),
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
}
