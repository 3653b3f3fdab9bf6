import StoreRules
import Testing

@Suite struct SeenLogTests {
    private func rows(_ log: SeenLog) -> [Int64] {
        var rows: [Int64] = []
        log.forEach { rows.append($0) }
        return rows
    }

    private func log(_ rows: [Int64]) -> SeenLog {
        var log = SeenLog()
        for row in rows { log.append(row) }
        return log
    }

    private static let examples: [[Int64]] = [
        [], [1], [5], [1, 2, 3], Array(1...5), Array(1...1000), Array(7...9) + Array(100...300) + [2, 2, 3, -4],
        [0, 0, 0], [.max, .min, .max], [.min] + Array(1...10) + [.min],
        (0..<100_000).map { $0 * 3 }, Array((1...100_000).reversed()),
    ]

    @Test(arguments: examples.indices)
    func `a log gives the rows that it took, in one go, in pages, and from what was saved`(index: Int) {
        let example = Self.examples[index]
        #expect(rows(log(example)) == example)
        var paged = SeenLog()
        for start in stride(from: 0, to: example.count, by: 7) {
            paged.append(log(Array(example[start..<min(start + 7, example.count)])))
        }
        #expect(rows(paged) == example)
        #expect(paged.count == example.count)
        var restored = SeenLog()
        restored.append(saved: SeenLog().unsaved(with: paged))
        #expect(rows(restored) == example)
    }

    @Test func `a row that cannot be identified is none of the rows`() {
        var page = SeenLog()
        for row: Int64 in 1...10 { page.append(row) }
        page.appendUnknown()
        page.append(.min)
        var restored = SeenLog()
        restored.append(saved: SeenLog().unsaved(with: page))
        for log in [page, restored] {
            #expect(rows(log) == Array(1...10) + [.min])
            #expect(log.count == 12)
            #expect(log.hasUnknown && !log.isAscending && !log.isGapless)
        }
        #expect(!log([3, .min]).hasUnknown)
    }

    @Test func `rows in their order take next to no room`() {
        #expect(SeenLog().unsaved(with: log(Array(1...1_000_000))).count < 100)
    }

    @Test func `a piece that an earlier version saved, with a byte for each row, is read`() {
        var restored = SeenLog()
        restored.append(saved: [2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 4])
        #expect(rows(restored) == [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 10])
    }
}
