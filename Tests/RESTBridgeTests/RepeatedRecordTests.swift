import BridgeKit
import BridgePaging
import TestSupport
import Testing

/// `paging: {repeats: true}`: pages that have a record again on purpose.
@Suite struct RepeatedRecordTests {
    /// What a pager does with pages of these sizes; pages of the same size have the same records.
    private func run(_ paging: Literal, _ counts: [Int], total: Int? = nil) throws -> (positions: [String], Pager) {
        var pager = try Pager(PagingRule(paging.options, pageSize: nil), cursor: nil)
        var position = pager.first
        var positions: [String] = []
        for (index, count) in counts.enumerated() {
            var facts = PageFacts()
            facts.count = count
            facts.total = total
            facts.digest = count > 2 ? UInt64(index) : UInt64(1000 + count)
            guard case .go(let next) = try pager.after(position, facts) else { break }
            position = next
            positions.append(next.text)
        }
        return (positions, pager)
    }

    @Test func `a total does not end the listing, because the repeats count towards it`() throws {
        let repeating: Literal = ["style": "page", "size": 10, "repeats": true]
        let (positions, pager) = try run(repeating, [10, 10, 10, 4], total: 30)
        #expect(positions == ["page:2", "page:3", "page:4"])
        #expect(pager.isComplete && pager.warnings.isEmpty)
        #expect(try run(["style": "page", "size": 10], [10, 10, 10, 4], total: 30).positions.count == 2)
    }

    @Test func `a total above what came does not make it incomplete`() throws {
        let (_, pager) = try run(["style": "page", "size": 10, "repeats": true], [10, 4], total: 30)
        #expect(pager.isComplete && pager.warnings.isEmpty)
    }

    @Test func `pages behind the last one that hold just the repeated record are the end`() throws {
        let (positions, pager) = try run(["style": "page", "repeats": true], [11, 11, 1, 1, 1])
        #expect(positions == ["page:2", "page:3", "page:4"])
        #expect(pager.isComplete && pager.warnings.isEmpty)
        #expect(throws: BridgeError.self) { try run(["style": "page"], [11, 11, 1, 1]) }
    }

    @Test func `a server that ignores the page is still found out`() throws {
        #expect(throws: BridgeError.self) { try run(["style": "page", "repeats": true], [2, 2]) }
    }

    @Test func `offsets go on by the size where a repeated record comes on top of it`() throws {
        let (positions, _) = try run(["style": "offset", "size": 10, "repeats": true], [11, 11, 3])
        #expect(positions == ["offset:10", "offset:20"])
    }

    @Test func `only pages by position take it`() throws {
        let error = try bridgeError {
            _ = try PagingRule((["style": "keyset", "repeats": true] as Literal).options, pageSize: nil)
        }
        #expect(error.code == .configuration)
        #expect(error.message == "paging.repeats has no effect with paging.style keyset")
    }
}
