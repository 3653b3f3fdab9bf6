import BridgeKit
import BridgePaging
import TestSupport
import Testing

/// `paging: {end_below: N}`: pages with fewer records end the listing, whatever they name as the next page.
@Suite struct ShortPageTests {
    /// The positions after pages of these sizes, each of which names a next one.
    private func run(_ paging: Literal, _ counts: [Int]) throws -> (positions: [String], Pager) {
        var pager = try Pager(PagingRule(paging.options, pageSize: nil), cursor: nil)
        var position = pager.first
        var positions: [String] = []
        for (index, count) in counts.enumerated() {
            var facts = PageFacts()
            facts.count = count
            facts.digest = UInt64(index)
            facts.next = .value("https://api.example/\(index + 2)")
            guard case .go(let next) = try pager.after(position, facts) else { break }
            position = next
            positions.append(next.text)
        }
        return (positions, pager)
    }

    @Test(arguments: ["cursor", "next_url", "link_header"])
    func `a page with fewer records is the last one`(style: String) throws {
        let path: Literal.Members = style == "link_header" ? [] : [("path", "$.next")]
        func run(_ more: Literal.Members, _ counts: [Int]) throws -> (count: Int, isComplete: Bool) {
            let (positions, pager) = try self.run(.object([("style", .text(style))] + path + more), counts)
            return (positions.count, pager.isComplete)
        }
        #expect(try run([("end_below", 1)], [3, 3, 0, 3]) == (2, true))
        #expect(try run([("end_below", 3)], [3, 2, 3]) == (1, true))
        #expect(try run([], [3, 0, 3]) == (3, false))
    }

    @Test func `only styles whose replies name the next page take it`() throws {
        let error = try bridgeError {
            _ = try PagingRule((["style": "page", "end_below": 1] as Literal).options, pageSize: nil)
        }
        #expect(error.message == "paging.end_below has no effect with paging.style page")
        let least = try bridgeError {
            _ = try PagingRule((["style": "next_url", "end_below": 0] as Literal).options, pageSize: nil)
        }
        #expect(least.message == "paging.end_below is 0")
    }
}
