import TestSupport
import Testing

@testable import BridgeHost

/// How much of what a bridge logs reaches the host's log.
@Suite struct LogBudgetTests {
    @Test func `a bridge that logs without end is silenced`() {
        let lines = LogLines()
        let log = BridgeLog(lines.logger, bridge: "b", redactor: Redactor(secrets: []))
        let message = String(repeating: "x", count: 10_000)
        for _ in 0..<2000 { log.message(2, message) }
        let all = lines.all
        #expect(all.map(\.utf8.count).reduce(0, +) < 2 * LogBudget.size)
        #expect(all.count > 200)
        #expect(all.last?.contains("bridge logs too much: the rest of this minute is dropped") == true)
        #expect(all.count { $0.contains("too much") } == 1)
    }

    @Test func `short messages count for what stands around them`() {
        let budget = LogBudget()
        var allowed = 0
        while budget.take(0) == .allowed { allowed += 1 }
        #expect(allowed == LogBudget.size / 100)
        #expect(budget.take(0) == .silenced)
    }
}
