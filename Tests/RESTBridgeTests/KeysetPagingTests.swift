import BridgeKit
import BridgePaging
import RESTBridge
import TestSupport
import Testing

/// Paging by the key of the last record, with a `size` above what the server returns.
@Suite struct KeysetPagingTests {
    /// What a scan has read.
    private struct Run {
        var pages: [[Int]] = []
        var positions: [PagePosition] = []
        var isComplete = false
        var warnings: [String] = []

        var keys: [Int] { pages.flatMap(\.self) }
    }

    /// A scan by keys with `size: 20` of a server that has the keys in order.
    ///
    /// - Parameters:
    ///   - caps: How many records it returns for each request; the last number for all later ones.
    ///   - isInclusive: Whether a page begins with the records of the key that was sent.
    ///   - cursor: Where the scan is resumed.
    private func run(
        _ keys: [Int], caps: [Int], isInclusive: Bool = false, total: Int? = nil, cursor: String? = nil
    ) throws -> Run {
        let rule: Literal = ["style": "keyset", "size_parameter": "limit", "size": 20, "total": "$.total"]
        var pager = try Pager(PagingRule(rule.options, pageSize: nil), cursor: cursor)
        var run = Run(positions: [pager.first])
        var step = Pager.Step.go(pager.first)
        while case .go(let position) = step {
            let key = if case .cursor(let text) = position { Int(text) ?? 0 } else { 0 }
            let cap = caps[min(run.pages.count, caps.count - 1)]
            let page = Array(keys.filter { $0 > key || isInclusive && $0 == key }.prefix(cap))
            var facts = PageFacts()
            facts.count = page.count
            facts.total = total
            facts.next = page.last.map { .value(String($0)) } ?? .missing
            facts.digest = UInt64(bitPattern: Int64(page.hashValue))
            run.pages.append(page)
            step = try pager.after(position, facts)
            if case .go(let next) = step { run.positions.append(next) }
        }
        run.isComplete = pager.isComplete
        run.warnings = pager.warnings
        return run
    }

    @Test func `a page as long as the short first one is not the end`() throws {
        let scan = try run(Array(1...31), caps: [10])
        #expect(scan.keys == Array(1...31))
        #expect(scan.pages.map(\.count) == [10, 10, 10, 1, 0])
        #expect(scan.isComplete && scan.warnings.isEmpty)
    }

    @Test(arguments: [[20, 10], [15, 10], [20, 15, 7], [10, 10, 3, 10]])
    func `a server that returns less in the middle of a listing does not end it`(caps: [Int]) throws {
        let scan = try run(Array(1...45), caps: caps)
        #expect(scan.keys == Array(1...45))
        #expect(scan.isComplete && scan.warnings.isEmpty)
    }

    @Test func `one page more decides about a short page, whichever it is`() throws {
        for (count, lengths) in [(3, [3, 0]), (20, [20, 0]), (23, [20, 3, 0]), (0, [0])] {
            let scan = try run(Array(0..<count).map { $0 + 1 }, caps: [20])
            #expect(scan.pages.map(\.count) == lengths)
            #expect(scan.isComplete && scan.warnings.isEmpty)
        }
    }

    @Test func `a resumed scan reads on from each of its pages`() throws {
        let whole = try run(Array(1...31), caps: [10])
        for (index, position) in whole.positions.enumerated().dropFirst() {
            let rest = try run(Array(1...31), caps: [10], cursor: position.text)
            #expect(rest.pages == Array(whole.pages[index...]))
            #expect(rest.isComplete && rest.warnings.isEmpty)
        }
        // The limit was lower when the scan began, or is lower now.
        #expect(try run(Array(1...31), caps: [20, 4], cursor: "cursor:10").keys == Array(11...31))
    }

    @Test func `pages that begin with the key before them end with it alone`() throws {
        for count in 1...31 {
            let scan = try run(Array(1...count), caps: [10], isInclusive: true)
            #expect(Set(scan.keys) == Set(1...count))
            #expect(scan.pages.last == [count])
            #expect(scan.isComplete && scan.warnings.isEmpty)
        }
    }

    @Test func `pages that begin with several records of the key before them end with these`() throws {
        let scan = try run(Array(1...12) + [13, 13, 13], caps: [10], isInclusive: true)
        #expect(scan.pages == [Array(1...10), Array(10...13) + [13, 13], [13, 13, 13]])
        #expect(scan.isComplete && scan.warnings.isEmpty)
        let resumed = try run(Array(1...12) + [13, 13, 13], caps: [10], isInclusive: true, cursor: "cursor:13")
        #expect(resumed.pages == [[13, 13, 13]])
        #expect(resumed.isComplete)
    }

    @Test func `pages that do not reach the total are not the whole listing`() throws {
        let scan = try run(Array(1...15), caps: [10], total: 31)
        #expect(scan.pages.map(\.count) == [10, 5, 0])
        #expect(!scan.isComplete)
        #expect(scan.warnings == ["the reply says 31 records, but its pages held 15: not complete"])
    }

    private func pager(after lengths: [Int], total: Int? = nil) throws -> Pager {
        let rule: Literal = ["style": "keyset", "size": 20, "total": "$.total"]
        var pager = try Pager(PagingRule(rule.options, pageSize: nil), cursor: nil)
        var position = pager.first
        for (index, length) in lengths.enumerated() {
            var facts = PageFacts()
            facts.count = length
            facts.total = total
            facts.next = .value(String(index))
            facts.digest = UInt64(index)
            guard case .go(let next) = try pager.after(position, facts) else { break }
            position = next
        }
        return pager
    }

    @Test func `a page that does not exist confirms the end behind a short one, and behind no other`() throws {
        #expect(try pager(after: [20]).isConfirming == false)
        #expect(try pager(after: [20, 3]).isConfirming)
        #expect(try pager(after: [10, 10]).isConfirming == false)
        var short = try pager(after: [10], total: 31)
        #expect(short.isConfirming)
        let end = short.confirmEnd()
        #expect(end == .end)
        #expect(!short.isComplete && short.warnings.count == 1)
        var last = try pager(after: [10])
        let confirmed = last.confirmEnd()
        #expect(confirmed == .end)
        #expect(last.isComplete)
    }

    @Test func `a short page whose last record has no key ends the listing, and a full one does not`() throws {
        var facts = PageFacts()
        facts.digest = 99
        facts.count = 3
        var pager = try pager(after: [10, 10])
        let step = try pager.after(.cursor("1"), facts)
        #expect(step == .end)
        #expect(pager.isComplete)
        facts.count = 10
        var full = try self.pager(after: [10])
        let error = try bridgeError { _ = try full.after(.cursor("0"), facts) }
        #expect(error.message == "the last record has no value for paging.field, which says how to continue")
    }

    @Test func `a server that ignores the key has sent the whole listing with a short page alone`() throws {
        var facts = PageFacts()
        facts.count = 10
        facts.next = .value("0")
        facts.digest = 0
        var short = try pager(after: [10])
        let step = try short.after(.cursor("0"), facts)
        #expect(step == .end)
        #expect(short.warnings == ["the server ignores the paging parameters: each page is the whole listing"])
        facts.count = 20
        var full = try pager(after: [20])
        let error = try bridgeError { _ = try full.after(.cursor("0"), facts) }
        #expect(error.message == "paging loops: two pages in a row hold the same records")
    }

    @Test(arguments: [("max_id", "max-id", -1), ("max_id", "max-id", 0), ("since_id", "since-id", 0)])
    func `max_id and since_id read on behind pages that are shorter than the size`(
        style: String, path: String, add: Int
    ) throws {
        let server = try RemoteServer.shared.get()
        let bridge = try RESTBridgeTests.bridge(["url": "\(server.url)/zoo"])
        let paging: Literal = [
            "style": .text(style), "add": .integer(Int64(add)), "size_parameter": "limit", "size": 20,
        ]
        let scan = try Scan(source(bridge, ["path": .text(path), "paging": paging]))
        #expect(Set(scan.ids) == Set(1...25))
        #expect(scan.pages.count == 4)
        #expect(scan.last?.isComplete == true && scan.warnings.isEmpty)
    }
}
