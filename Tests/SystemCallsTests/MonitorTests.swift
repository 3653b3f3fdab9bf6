import SystemCalls
import Testing

@Suite struct MonitorTests {
    @Test func `a change wakes every thread that waits for it`() throws {
        let turns = Monitor(0)
        let threads = try (0..<4).map { number in
            try #require(
                NativeThread {
                    // Each waits for its turns among those of the others.
                    for round in 0..<500 {
                        _ = turns.wait { $0 == round * 4 + number ? true : nil }
                        turns.change { $0 += 1 }
                    }
                })
        }
        for thread in threads { thread.join() }
        #expect(turns.withLock { $0 } == 2000)
    }

    @Test func `a wait with a time limit ends at it`() {
        let never = Monitor(0)
        let start = MonotonicClock.seconds
        #expect(never.wait(seconds: 0.05) { $0 > 0 ? true : nil } == nil)
        #expect(MonotonicClock.seconds - start >= 0.05)
    }

    @Test func `a wait begins with a look at the value`() {
        #expect(Monitor(1).wait(seconds: 0) { $0 > 0 ? $0 : nil } == 1)
        #expect(Monitor(1).wait(seconds: nil) { $0 > 0 ? $0 : nil } == 1)
    }

    @Test func `an error of the body passes on, and leaves the monitor usable`() {
        struct Fault: Error {}
        let monitor = Monitor(0)
        #expect(throws: Fault.self) { try monitor.change { _ in throw Fault() } }
        #expect(throws: Fault.self) { try monitor.wait { _ -> Bool? in throw Fault() } }
        #expect(monitor.withLock { $0 } == 0)
    }

    @Test func `the clock is the same in all its units`() {
        let seconds = MonotonicClock.seconds
        let milliseconds = MonotonicClock.milliseconds
        let nanoseconds = MonotonicClock.nanoseconds
        #expect(Int(seconds * 1000) <= milliseconds)
        #expect(UInt64(milliseconds) * 1_000_000 <= nanoseconds)
        #expect(Double(nanoseconds) / 1e9 - seconds < 20)
    }
}
