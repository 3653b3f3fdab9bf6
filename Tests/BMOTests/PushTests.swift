import BridgeHost
import Testing

@testable import BMO

/// When an edit is tried again.
@Suite struct BackoffTests {
    @Test func `the pause doubles up to a quarter of an hour, and is spread over its second half`() {
        func seconds(_ count: Int, _ random: Double) -> Int64 {
            Backoff.pause(afterFailures: count, random: random).components.seconds
        }
        #expect((1...5).map { seconds($0, 0.999_999_999_999) + 1 } == [1, 2, 4, 8, 16])
        #expect(seconds(2, 0) == 1)
        #expect(seconds(3, 0) == 2)
        #expect(seconds(64, 0) == 450)
        #expect(seconds(1_000_000, 0.999_999_999_999) + 1 == 900)
        #expect(Backoff.pause(afterFailures: 0, random: 0) == .milliseconds(500))
    }

    @Test func `a remote that asks for more time gets it`() {
        #expect(Backoff.pause(afterFailures: 1, atLeast: .seconds(3600), random: 0) == .seconds(3600))
        #expect(Backoff.pause(afterFailures: 5, atLeast: .seconds(1), random: 0) == .seconds(8))
    }
}
