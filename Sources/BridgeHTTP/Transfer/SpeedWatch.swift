/// Detects a reply that is too slow: a pure value, checked about once a second.
struct SpeedWatch {
    enum Verdict: Equatable {
        case well
        /// The reply did not begin in time.
        case silent
        /// The number of bytes received during the measured time.
        case slow(bytes: Int, seconds: Double)
    }

    /// The state of a request at one check.
    struct Look {
        /// Seconds on a monotonic clock.
        var now: Double
        /// Whether sending the request has begun.
        var isSent: Bool
        /// Whether the final reply has begun: not only that of a proxy, a 1xx, or a challenge.
        var hasBegun: Bool
        /// How many heads have come before that of the final reply.
        var interimHeads = 0
        var sentBytes: Int
        /// Bytes on the wire, heads and body.
        var receivedBytes: Int
        /// Whether our own reader paused the reply since the last check.
        var wasHeld: Bool
    }

    private let timing: HTTPTiming
    private var sent: (bytes: Int, heads: Int, since: Double)?
    private var samples: [(time: Double, bytes: Int)] = []

    init(_ timing: HTTPTiming) { self.timing = timing }

    mutating func validate(_ look: Look) -> Verdict {
        guard look.hasBegun else {
            guard look.isSent else { return .well }
            // A body that is being sent is not silence, and neither is a head before the final one.
            if sent?.bytes != look.sentBytes || sent?.heads != look.interimHeads {
                sent = (look.sentBytes, look.interimHeads, look.now)
            }
            return look.now - (sent?.since ?? look.now) >= timing.firstByte ? .silent : .well
        }
        guard timing.minimumSpeed > 0 else { return .well }
        if look.wasHeld { samples = [] }
        if look.now - (samples.last?.time ?? -.infinity) >= timing.speedTime / 10 {
            samples.append((look.now, look.receivedBytes))
        }
        // Keeps the newest check that is at least as old as the measured time, and all later ones.
        while samples.count > 1, look.now - samples[1].time >= timing.speedTime { samples.removeFirst() }
        guard let first = samples.first, look.now - first.time >= timing.speedTime else { return .well }
        let (bytes, seconds) = (look.receivedBytes - first.bytes, look.now - first.time)
        return Double(bytes) < Double(timing.minimumSpeed) * seconds ? .slow(bytes: bytes, seconds: seconds) : .well
    }
}
