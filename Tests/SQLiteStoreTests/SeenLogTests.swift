import Testing

@testable import SQLiteStore

/// The log of a walk gives back what was put into it, in pieces of whatever kind.
@Suite struct SeenLogTests {
    private func rows(_ log: SeenLog) -> [Int64] {
        var rows: [Int64] = []
        log.forEach { rows.append($0) }
        return rows
    }

    private static let lists: [[Int64]] = [
        [], [7], Array(1...200_000), Array(1...70_000) + Array(70_001...150_000), Array((1...100_000).reversed()),
        (0..<100_000).map { $0 * 7919 % 100_003 },
        Array(1...80_000) + [5, 5, SeenLog.unknown] + Array(80_001...170_000),
        [.max, .min + 1, -3, -2, -1, 0, 1],
    ]

    @Test(arguments: lists) func `rows come back in their order`(list: [Int64]) {
        var log = SeenLog()
        for row in list { log.append(row) }
        #expect(rows(log) == list)
        #expect(log.count == list.count)
        var saved = SeenLog()
        saved.append(saved: log.unsaved(with: SeenLog()))
        #expect(rows(saved) == list)
    }

    @Test func `pages follow each other, and what was saved is not saved again`() {
        var (log, page, later) = (SeenLog(), SeenLog(), SeenLog())
        for row in Int64(1)...100_000 { log.append(row) }
        log.markSaved()
        for row in Int64(100_001)...200_000 { page.append(row) }
        log.append(page)
        for row: Int64 in [200_001, 200_002, 9] { later.append(row) }
        var unsaved = SeenLog()
        unsaved.append(saved: log.unsaved(with: later))
        #expect(rows(unsaved) == Array(100_001...200_002) + [9])
        log.append(later)
        #expect(rows(log) == Array(1...200_002) + [9])
        #expect(!log.isAscending)
    }
}
