/// What becomes of a request whose remote cannot be reached: no network, no server.
public enum AvailabilityPolicy: Sendable {
    /// It fails, after the bridge host's own few tries.
    case fail
    /// It waits, with growing pauses, and tries again until so much time has passed.
    case wait(atMost: Duration)
    /// You decide: called with the failure and the number of tries so far; the pause before the next try, or nil to give
    /// up. Wait in it for your network to come back, if you can tell.
    case decide(@Sendable (_ failure: RequestError, _ tries: Int) async -> Duration?)

    /// The pause after the first failure, which doubles up to ``longestPause``.
    static let firstPause = Duration.milliseconds(500)
    static let longestPause = Duration.seconds(30)

    /// The pause before the next try; nil to give up.
    func pause(after failure: RequestError, tries: Int, since start: ContinuousClock.Instant) async -> Duration? {
        guard failure.isUnreachable else { return nil }
        switch self {
        case .fail: return nil
        case .decide(let decide): return await decide(failure, tries)
        case .wait(let limit):
            let left = limit - (ContinuousClock.now - start)
            guard left > .zero else { return nil }
            var pause = Self.firstPause
            for _ in 1..<max(1, tries) where pause < Self.longestPause { pause = pause * 2 }
            return min(pause, Self.longestPause, left)
        }
    }
}
