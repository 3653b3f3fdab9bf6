import BridgeHost
import Testing

@testable import BMO

/// When a walk by parent gives up.
struct FailureStreakTests {
    @Test func `ten failures of one kind in a row are too many`() {
        var streak = FailureStreak()
        for _ in 0..<9 { streak.noteFailure("remote", wasReceived: false, transaction: nil) }
        streak.noteFailure("timeout", wasReceived: false, transaction: nil)
        for _ in 0..<9 { streak.noteFailure("remote", wasReceived: false, transaction: nil) }
        #expect(!streak.isTooLong)
        streak.noteFailure("remote", wasReceived: false, transaction: nil)
        #expect(streak.isTooLong)
    }

    @Test func `records that wait for a slow import end a streak of requests`() {
        var streak = FailureStreak()
        for _ in 0..<20 {
            streak.noteFailure("not_found", wasReceived: false, transaction: nil)
            streak.noteReceived()
        }
        #expect(!streak.isTooLong)
    }

    @Test func `imports that fail are counted although requests succeed`() {
        var streak = FailureStreak()
        for _ in 0..<10 {
            streak.noteReceived()
            streak.noteFailure("database", wasReceived: true, transaction: nil)
        }
        #expect(streak.isTooLong)
        streak.noteDone()
        #expect(!streak.isTooLong)
    }

    @Test func `a transaction counts once`() {
        var streak = FailureStreak()
        for page in 0..<100 { streak.noteFailure("database", wasReceived: true, transaction: 1 + page / 50) }
        #expect(!streak.isTooLong)
        for transaction in 3...10 { streak.noteFailure("database", wasReceived: true, transaction: transaction) }
        #expect(streak.isTooLong)
    }
}
