import BridgeKit
import Testing

@testable import BridgeHTTP

/// When a remote is too slow, by numbers alone.
@Suite struct SpeedWatchTests {
    private static func timing(speed: Int = 1024) -> HTTPTiming {
        var timing = HTTPTiming()
        timing.minimumSpeed = speed
        return timing
    }

    /// The second at which a reply is given up whose bytes `received` tells, looked at each second; nil for never.
    private func end(
        _ timing: HTTPTiming = Self.timing(), until last: Int = 600, isHeld: (Int) -> Bool = { _ in false },
        sent: (Int) -> Int = { _ in 0 }, received: (Int) -> Int
    ) -> (second: Int, verdict: SpeedWatch.Verdict)? {
        var watch = SpeedWatch(timing)
        for second in 0...last {
            let look = SpeedWatch.Look(
                now: Double(1000 + second), isSent: second > 0, hasBegun: received(second) > 0,
                sentBytes: sent(second), receivedBytes: received(second), wasHeld: isHeld(second))
            let verdict = watch.validate(look)
            if verdict != .well { return (second, verdict) }
        }
        return nil
    }

    @Test func `silence ends after the time for the first byte, counted from the request's last`() {
        let silent = end { _ in 0 }
        #expect(silent?.second == 31 && silent?.verdict == .silent)
        #expect(end(sent: { min($0, 100) * 1000 }) { _ in 0 }?.second == 130, "an upload is no silence")
    }

    @Test func `bytes before the final reply do not begin it, and a head there starts the time again`() {
        var watch = SpeedWatch(Self.timing())
        let silent = (0...600).first { second in
            let look = SpeedWatch.Look(
                now: Double(second), isSent: true, hasBegun: false, interimHeads: second < 20 ? 0 : 1, sentBytes: 0,
                receivedBytes: 80, wasHeld: false)
            return watch.validate(look) == .silent
        }
        #expect(silent == 50)
    }

    @Test func `a byte a second ends, whenever it begins`() {
        let drip = end { $0 }
        #expect(drip.map { (30...34).contains($0.second) } == true, "\(String(describing: drip))")
        let late = end { $0 < 200 ? $0 * 100_000 : 20_000_000 + $0 }
        #expect(late.map { (229...236).contains($0.second) } == true, "\(String(describing: late))")
        #expect(end(Self.timing(speed: 0)) { $0 } == nil, "any speed is allowed")
    }

    @Test func `what is fast enough on the whole, or waits for its reader, goes on`() {
        #expect(end { $0 * 1100 } == nil)
        #expect(end { $0 / 20 * 40_000 + 1 } == nil, "in bursts")
        #expect(end(isHeld: { $0 > 10 }) { min($0, 10) * 100_000 + 1 } == nil)
        #expect(end(isHeld: { (10...100).contains($0) }) { min($0, 10) * 100_000 + 1 }?.second == 130)
    }
}
