import BMOTesting
import Testing

@Suite struct ManualClockTests {
    @Test func `a task sleeps until the clock has moved far enough`() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            try await clock.sleep(for: .seconds(10))
            return clock.now.offset
        }
        await clock.untilAsleep()
        clock.advance(by: .seconds(9))
        clock.advance(by: .seconds(2))
        #expect(try await sleeper.value == .seconds(11))
        try await clock.sleep(for: .zero)
    }

    @Test func `a sleep is cancelled with its task`() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        await clock.untilAsleep()
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(10))
        }
        await #expect(throws: CancellationError.self) { try await late.value }
    }
}
